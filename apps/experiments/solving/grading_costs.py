"""What the gradings of answers would cost, before any answer exists."""

from collections.abc import Mapping, Sequence

from apps.experiments.solving.manifest import Scorer
from apps.graders.batches.jobs import Job, material_of
from apps.graders.batches.jobs import text_of as problem_of
from apps.graders.pieces import pieces_known
from apps.graders.planning.answer_lengths import answers_of
from apps.graders.planning.naming import plan_named, players_written, variant_of
from apps.graders.planning.plans import PlanWrong
from apps.problem_sets.models import ProblemSetItem
from apps.reasoning.domain.spending import OFFLINE
from apps.reasoning.inference.aliases import Alias

#: In place of an answer of a usual length, about 700 tokens.
ANSWER = "We multiply both sides by the same number.\n\n" * 60


def gradings_cost(
    scorer: Scorer, items: Sequence[ProblemSetItem], each: float, aliases: Mapping[str, Alias]
) -> tuple[float, float, float]:
    """Calls, most calls and tokens of `each` gradings on every problem of the sample `items`.

    What a grader prepares for a problem counts once, and not at all if it exists. Zero if the grader cannot grade.
    """
    calls = most = tokens = 0.0
    try:
        variant = variant_of(scorer.workflow)
        plan = plan_named(variant, players_written(scorer.players, variant.grader), aliases)
        lengths = answers_of(plan.workflow, plan.roles)
        for item in items:
            stated = item.problem
            job = Job(item.name, problem_of(stated), {**material_of(stated), "script": ANSWER})
            for role in plan.estimate(job, pieces_known(stated.statement, plan.roles), lengths).roles:
                times = 1 if role.role in OFFLINE else each
                calls += times * role.calls_expected
                most += times * role.calls_max
                tokens += times * role.tokens_expected
    except PlanWrong:
        return 0, 0, 0
    return calls, most, tokens
