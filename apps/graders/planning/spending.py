"""Calls and tokens of grader runs from their recorded steps, with preparation and online grading separate."""

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Count, Sum

from apps.reasoning.domain.spending import Amount, Spending, spending_of
from apps.runs.models import Step


def spendings_of(runs: Sequence[int]) -> dict[int, Spending]:
    """The spending by primary key of a run, without runs that have no recorded calls; one query."""
    rows = (
        Step.objects.filter(run__in=runs, kind="call", attempt__gt=0)
        .order_by()
        .values("run", "role")
        .annotate(calls=Count("pk"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"))
    )
    found: dict[int, list[tuple[str, Amount]]] = defaultdict(list)
    for row in rows:
        amount = Amount(calls=row["calls"], prompt_tokens=row["prompt"], completion_tokens=row["completion"])
        found[row["run"]].append((row["role"], amount))
    return {run: spending_of(spent) for run, spent in found.items()}


def spending_of_run(run: int) -> Spending:
    """The spending of one run, by primary key."""
    return spendings_of([run]).get(run, Spending())
