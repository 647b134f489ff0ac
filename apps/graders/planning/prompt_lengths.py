"""Check whether a grader's first prompts fit into the contexts of its models, by rendering them without sending."""

from collections.abc import Mapping

from asgiref.sync import async_to_sync

from apps.graders.batches.jobs import Job
from apps.graders.planning.plans import GradingPlan, Prepared
from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls

#: Characters per token, an upper bound for English with formulas: prompts reported as too long really are.
CHARACTERS = 4
#: Upper bound on the characters of a prompt file and its form.
OURS = 40_000


class _Rejecting:
    """A dispatcher that rejects each call and records the alias and prompt length of those to models, in characters."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    async def dispatch(self, request: GenerationRequest) -> Final:
        if request.job == "generate":
            self.asked.append((request.alias, sum(len(one.content) for one in request.messages)))
        raise RequestRejected


def overflowing_aliases(plan: GradingPlan, job: Job, known: Prepared, aliases: Mapping[str, Alias]) -> frozenset[str]:
    """The models whose first prompt about this script exceeds their context. Raises `PlanWrong`.

    Later prompts contain answers, so their lengths are unknown and may be larger.
    """
    spec = plan.spec(job, known)
    texts = len(job.problem.statement) + len(plan.params(job, known).model_dump_json())
    if all(texts + OURS < CHARACTERS * aliases[role.alias].context_tokens for role in spec.roles.values()):
        return frozenset()
    # Without context limits, so that prompts are not shortened.
    roles = {name: role.model_copy(update={"context_tokens": None}) for name, role in spec.roles.items()}
    rejecting = _Rejecting()
    context = RunContext(spec.model_copy(update={"roles": roles}), InMemoryJournal(), rejecting, NoControls())
    async_to_sync(plan.grader.solve)(spec.problem, context, plan.params(job, known))
    return frozenset(alias for alias, length in rejecting.asked if length >= CHARACTERS * aliases[alias].context_tokens)
