"""Play one grading in memory: the real workflow, answered by a simulated grader."""

from apps.reasoning.domain.grading_events import GradingReached
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.rehearsal.agent import SimulatedAgent
from apps.reasoning.rehearsal.scripts import Scripts
from apps.reasoning.rehearsal.skills import Skills
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.spec import RunSpec


async def grading_played(spec: RunSpec, skills: Skills, scripts: Scripts, seed: str) -> GradingReached:
    """The result of a grading. `seed` names its draws. Raises `ReasoningError` and `SkillsWrong`."""
    grader, journal = GRADERS[spec.scaffold], InMemoryJournal()
    agent = SimulatedAgent(skills, spec.scaffold, spec.problem.id, seed, scripts)
    models = {role.alias: agent for role in spec.roles.values()}
    context = RunContext(spec, journal, LocalDispatcher(models), NoControls(), backoff_s=0)
    await grader.solve(spec.problem, context, grader.read_params(spec.params))
    return next(event for _, _, event in journal.events if isinstance(event, GradingReached) and event.name == FINAL)
