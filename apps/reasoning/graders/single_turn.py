"""Single turn: one call examines the script, lists its faults and proposes 0 to 7 points.

Source: RefGrader §5.1, App. B.
"""

from collections.abc import Mapping

from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders.grader import Grader, concluded, costs
from apps.reasoning.graders.grading import Grading
from apps.reasoning.graders.judging.asking import GraderDesk
from apps.reasoning.graders.judging.judging import graded, total_read
from apps.reasoning.graders.judging.said import GradingSaid
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.view import GUIDELINES
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Preset, Role

NAME = "single_turn"
GRADER_TOKENS = (9_000, 9_000)
GRADER = Role("grader", "Grader", "Examines the script and proposes points.", 32_768, 0.2)


class Params(Material):
    """No parameters other than the material."""


def reference_block(desk: GraderDesk, reference: str) -> str:
    """The prompt's block for a reference solution, between problem and guidelines; "" without one."""
    if not reference.strip():
        return ""
    heading = load("grading/forms/reference").system
    return f"{heading}\n\n{desk.foreign(reference)}\n\n"


async def grade(
    desk: GraderDesk, key: str = "grade", role: str = "grader", *, workflow: str = NAME, reference: str = ""
) -> Grading:
    """Make one examination, also for a jury's judges. With a `reference`, the prompt includes that solution, as in `ref3`."""
    read = total_read(desk)
    values = {
        "reference": reference_block(desk, reference),
        "fallacies": load("grading/forms/fallacies").system,
        "guidelines": desk.foreign(desk.material.guidelines_shown),
        "script": desk.script,
    }
    said = await desk.ask(
        key,
        role=role,
        prompt="grading/single_turn",
        values=values,
        form="total",
        shape=GradingSaid,
        read=read,
        again=read.again,
        ending=desk.marks,
    )
    return graded(desk, workflow, said)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Examine once."""
    return await concluded(problem, ctx, params, NAME, grade)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call, and one more if its answer is unreadable."""
    return costs({"grader": (1, 1, 1)}, {"grader": GRADER_TOKENS}, max_new_tokens, "Likely: the answer is readable.")


WORKFLOW = Grader(
    name=NAME,
    title="Single turn",
    description="One call examines the script, lists its faults by step, and proposes 0 to 7 points.",
    source="RefGrader §5.1",
    params=Params,
    presets={"original": Preset("Original", "One call.", Params(script=""))},
    roles=(GRADER,),
    solve=solve,
    estimate=estimate,
    may_show=lambda _: frozenset({GUIDELINES}),
)
