"""Visits that a job leaves out: a problem rests once after each visit that all its answers solved."""

import json
from collections import Counter
from pathlib import Path

from django.db.models import Count

from apps.learning.models import Rollout, TrainingJob
from apps.learning.rollouts.plan import RolloutPlan
from apps.learning.rollouts.problems import current_versions
from apps.recipes.rows.streaming import SOLVED
from apps.runs.models import LIVE, RunStatus


def visits_solved(folder: Path) -> Counter[str]:
    """Visits that all answers solved, by problem and version as in the feed."""
    try:
        lines = (folder / SOLVED).read_text(encoding="utf-8").splitlines()
    except OSError:
        return Counter()
    found = {(row["problem"], row["visit"]) for row in map(_row, lines) if row}
    return Counter(problem for problem, _ in found)


def rests_of(folder: Path, plan: RolloutPlan) -> Counter[str]:
    """Visits to leave out, by slug: at most half of a problem's visits."""
    if not plan.rest_solved or not (solved := visits_solved(folder)):
        return Counter()
    names = {f"{one.problem.public_id}@{one.number}": one.problem.slug for one in current_versions(plan.problems)}
    found = {names[name]: min(count, plan.visits // 2) for name, count in solved.items() if name in names}
    return Counter(found)


def runs_wanted(plan: RolloutPlan, counted: int, rests: int) -> int:
    """Runs on a problem without those of visits that are left out; a visit that has begun is played whole."""
    begun = -(-counted // plan.runs_a_group) * plan.runs_a_group
    return max(plan.runs_each - plan.runs_a_group * rests, min(begun, plan.runs_each))


def visits_rested(job: TrainingJob, plan: RolloutPlan) -> int:
    """Number of visits that are left out."""
    if not (rests := rests_of(job.folder, plan)):
        return 0
    rows = Rollout.objects.filter(job=job, problem__in=list(rests), run__status__in=(*LIVE, RunStatus.FINISHED)).order_by()
    counted = dict(rows.values_list("problem").annotate(count=Count("pk")))
    left = (plan.runs_each - runs_wanted(plan, counted.get(slug, 0), count) for slug, count in rests.items())
    return sum(left) // plan.runs_a_group


def _row(line: str) -> dict[str, str]:
    try:
        found = json.loads(line)
    except ValueError:  # Still being written.
        return {}
    return found if isinstance(found, dict) else {}
