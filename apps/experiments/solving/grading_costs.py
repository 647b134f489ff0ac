"""What the gradings of answers would cost, before any answer exists, and which problems a grader cannot grade."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.experiments.solving.manifest import Scorer
from apps.graders.batches.jobs import Job, materials_of
from apps.graders.batches.jobs import text_of as problem_of
from apps.graders.pieces import pieces_known
from apps.graders.planning.answer_lengths import answers_of
from apps.graders.planning.naming import plan_named, players_written, variant_of
from apps.graders.planning.plans import GradingPlan, PlanWrong
from apps.problem_sets.models import ProblemSetItem
from apps.reasoning.domain.spending import OFFLINE
from apps.reasoning.inference.aliases import Alias

#: In place of an answer of a usual length, about 700 tokens.
ANSWER = "We multiply both sides by the same number.\n\n" * 60
#: Problems from whose gradings the cost of all is estimated.
SAMPLE = 12


@dataclass(frozen=True)
class GradingCosts:
    """Expected calls, most calls and tokens of the gradings of all problems that can be graded, which are `problems`.

    `conflicts`: sentences about the others, with what to do.
    """

    problems: int = 0
    calls: int = 0
    calls_most: int = 0
    tokens: int = 0
    conflicts: tuple[str, ...] = ()


def gradings_cost(scorer: Scorer, items: Sequence[ProblemSetItem], each: float, aliases: Mapping[str, Alias]) -> GradingCosts:
    """The cost of `each` gradings on every problem, from a sample of those that can be graded.

    What a grader prepares for a problem counts once, and not at all if it exists. Zero if the grader cannot grade at all.
    """
    try:
        variant = variant_of(scorer.workflow)
        plan = plan_named(variant, players_written(scorer.players, variant.grader), aliases)
    except PlanWrong:
        return GradingCosts()
    refused: Counter[str] = Counter()
    usable: list[tuple[ProblemSetItem, Job]] = []
    for item, material in zip(items, materials_of([one.problem for one in items]), strict=True):
        job = Job(item.name, problem_of(item.problem), {**material, "script": ANSWER})
        if reason := _refusal(plan, job):
            refused[reason] += 1
        else:
            usable.append((item, job))
    some = usable[:: max(1, len(usable) // SAMPLE)][:SAMPLE]
    costs = [one * len(usable) / max(1, len(some)) for one in _costs(plan, some, each)]
    calls, most, tokens = map(round, costs)
    return GradingCosts(len(usable), calls, most, tokens, _conflicts(scorer.name, refused, len(items)))


def _refusal(plan: GradingPlan, job: Job) -> str:
    """What the problem lacks, or the grader's reason in a sentence, or ""."""
    needs = plan.grader.needs
    if "references" in needs and not any(text.strip() for text in job.material["references"]):
        return "reference solution"
    if "scheme" in needs and job.material["scheme"] is None:
        return "active marking scheme"
    try:
        plan.params(job)
    except PlanWrong as error:
        return str(error).removeprefix(f"{job.paper}: ")
    return ""


def _conflicts(name: str, refused: Mapping[str, int], problems: int) -> tuple[str, ...]:
    found = []
    for reason, count in refused.items():
        if reason.endswith("."):
            found.append(f"{name} cannot grade {count} of {problems} problems. {reason}")
        else:
            found.append(
                f"{count} of {problems} problems {'has' if count == 1 else 'have'} no {reason}, which {name} needs. "
                "Add one to each, or choose another grader."
            )
    return tuple(found)


def _costs(plan: GradingPlan, some: Sequence[tuple[ProblemSetItem, Job]], each: float) -> tuple[float, float, float]:
    """Calls, most calls and tokens of `each` gradings on these problems."""
    calls = most = tokens = 0.0
    lengths = answers_of(plan.workflow, plan.roles)
    for item, job in some:
        for role in plan.estimate(job, pieces_known(item.problem.statement, plan.roles), lengths).roles:
            times = 1 if role.role in OFFLINE else each
            calls += times * role.calls_expected
            most += times * role.calls_max
            tokens += times * role.tokens_expected
    return calls, most, tokens
