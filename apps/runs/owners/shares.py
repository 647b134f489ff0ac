"""How much one person's runs may use at once: runs being driven, and calls under way over all of them.

Both are looked up, not locked: two orchestrators that look in the same moment may let one run too many begin. Cells of
experiments and rollouts of training jobs have limits of their own and take no place from what their owner starts by hand.
"""

import time

from django.conf import settings
from django.db.models import Count, QuerySet
from django.db.models.functions import Now

from apps.runs.models import APART, Run, RunStatus

#: Seconds for which a count of an owner's runs serves their other renewals.
COUNTED_S = 2.0
_counted: dict[tuple[int, bool], tuple[float, int]] = {}
#: Placeholder owner: queued, not yet claimed; the lease has the deadline of its task.
ON_ITS_WAY = "dispatched"


def runs_driven() -> QuerySet[Run]:
    """Runs with an owner, without paused ones."""
    return Run.objects.filter(status__in=(RunStatus.QUEUED, RunStatus.RUNNING), lease_until__gt=Now()).exclude(
        lease_owner__in=("", ON_ITS_WAY)
    )


def owners_at_their_limit() -> list[int]:
    """Users at the limit of running runs."""
    counted = _by_hand().exclude(owner=None).values("owner").annotate(runs=Count("pk"))
    return [row["owner"] for row in counted if row["runs"] >= settings.USER_RUNS]


def must_wait(run_pk: int) -> bool:
    """Whether the run's owner is at the limit with other runs."""
    owner, preset = Run.objects.filter(pk=run_pk).values_list("owner", "preset").first() or (None, "")
    if owner is None or preset in APART:
        return False
    return _by_hand().filter(owner=owner).exclude(pk=run_pk).count() >= settings.USER_RUNS


def _by_hand() -> QuerySet[Run]:
    return runs_driven().exclude(preset__in=APART)


def window_of(run_pk: int, owner_pk: int | None) -> int:
    """Calls that this run may have under way: its own limit, or its part of what its owner's runs may have together."""
    if owner_pk is None:
        return settings.RUN_WINDOW
    is_apart = Run.objects.filter(pk=run_pk, preset__in=APART).exists()
    return _part(1 + _driven_of(owner_pk, is_apart).exclude(pk=run_pk).count())


def window_renewed(owner_pk: int | None, *, is_apart: bool) -> int:
    """Like `window_of`, for a run that is being driven. Counted once for all runs of an owner that ask together."""
    if owner_pk is None:
        return settings.RUN_WINDOW
    at, found = _counted.get((owner_pk, is_apart), (0.0, 0))
    if time.monotonic() - at > COUNTED_S:
        at, found = time.monotonic(), _driven_of(owner_pk, is_apart).count()
        _counted[owner_pk, is_apart] = at, found
    return _part(max(1, found))


def _part(runs: int) -> int:
    return max(1, min(settings.RUN_WINDOW, settings.USER_WINDOW // runs))


def _driven_of(owner_pk: int, is_apart: bool) -> QuerySet[Run]:
    return (runs_driven() if is_apart else _by_hand()).filter(owner=owner_pk)
