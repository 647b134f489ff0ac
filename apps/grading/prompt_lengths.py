"""Whether what a grader asks first fits into its models' contexts: its prompts are made as for a grading, sent to nobody."""

from collections.abc import Mapping

from asgiref.sync import async_to_sync

from apps.grading.jobs import Job
from apps.grading.plans import GradingPlan, Prepared
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.context import RunContext
from apps.reasoning.scaffolds.controls import NoControls

#: A token of English with formulas has rather fewer characters, so that what is told to be too long is.
CHARACTERS = 4
#: No prompt file with its form has as many of its own.
OURS = 40_000


class _Nobody:
    """Refuses each call, and keeps whose it was with the characters of its prompt."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    async def dispatch(self, request: GenerationRequest) -> Final:
        self.asked.append((request.alias, sum(len(one.content) for one in request.messages)))
        raise RequestRejected


def aliases_too_short(plan: GradingPlan, job: Job, known: Prepared, aliases: Mapping[str, Alias]) -> frozenset[str]:
    """The models that would refuse a prompt about this script, of those that are asked first. Raises `PlanWrong`.

    What is asked with an answer in hand is not known beforehand, and may be longer.
    """
    spec = plan.spec(job, known)
    told = len(job.problem.statement) + len(plan.params(job, known).model_dump_json())
    if all(told + OURS < CHARACTERS * aliases[role.alias].context_tokens for role in spec.roles.values()):
        return frozenset()
    # Whatever the contexts are, every prompt is made as it is.
    roles = {name: role.model_copy(update={"context_tokens": None}) for name, role in spec.roles.items()}
    nobody = _Nobody()
    context = RunContext(spec.model_copy(update={"roles": roles}), InMemoryJournal(), nobody, NoControls())
    async_to_sync(plan.grader.solve)(spec.problem, context, plan.params(job, known))
    return frozenset(alias for alias, length in nobody.asked if length >= CHARACTERS * aliases[alias].context_tokens)
