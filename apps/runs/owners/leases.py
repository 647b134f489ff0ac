"""Ownership of runs. A lease is valid until a time by the database's clock; the fence grows at every take-over.

A run has at most one owner at a time; a slow former owner finds its fence moved and stops writing.
"""

import os
import socket
import uuid
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from apps.runs.models import APART, LIVE, Run, RunCommand, RunStatus
from apps.runs.owners.shares import ON_ITS_WAY, must_wait, owners_at_their_limit

#: More than the number of take-overs between a backup and its restore.
FENCES_OF_A_LOST_FUTURE = 1000
#: Owner names of this process. A restarted container usually has the same host name and process id.
_names: set[str] = set()


def owner_name() -> str:
    """A name for one drive of one run by this process: `host/pid/random`."""
    name = f"{socket.gethostname()}/{os.getpid()}/{uuid.uuid4().hex[:8]}"
    _names.add(name)
    return name


def lease_take(run_pk: int, owner: str) -> Run | None:
    """Take the lease of a free run. The returned row has the new fence.

    None if another owner is alive, or if the user is at the limit of running runs: the run then waits, with a status reason,
    until the warden finds that one of them has ended.
    """
    if must_wait(run_pk):
        Run.objects.filter(pk=run_pk, lease_owner=ON_ITS_WAY).update(
            lease_owner="", lease_until=None, status_reason=f"Waiting until one of {settings.USER_RUNS} running runs has ended."
        )
        return None
    free = Q(lease_until=None) | Q(lease_until__lt=Now()) | Q(lease_owner="") | Q(lease_owner=ON_ITS_WAY)
    taken = _update_free(
        run_pk,
        free,
        fence=F("fence") + 1,
        lease_owner=owner,
        lease_until=Now() + timedelta(seconds=settings.LEASE_S),
        started_at=Coalesce("started_at", Now()),
        status_reason="",
    )
    return Run.objects.select_related("problem_version__problem").get(pk=run_pk) if taken else None


def leases_renew(runs: Collection[int], fence: int, seconds: float = 0.0) -> set[int]:
    """Extend the leases of runs under one fence by `LEASE_S` and add `seconds` of active time.

    The runs that were renewed. The fence of the others has moved: their drives stop.
    """
    until = Now() + timedelta(seconds=settings.LEASE_S)
    held = Run.objects.filter(pk__in=runs, fence=fence)
    if held.update(lease_until=until, active_seconds=F("active_seconds") + seconds) == len(runs):
        return set(runs)
    return set(held.values_list("pk", flat=True))


def lease_conclude(run_pk: int, fence: int, outcome: Mapping[str, Any], seconds: float) -> bool:
    """Renew for the last time, with the outcome. False: the fence has moved, and nothing was written."""
    until = Now() + timedelta(seconds=settings.LEASE_S)
    held = Run.objects.filter(pk=run_pk, fence=fence)
    return held.update(lease_until=until, active_seconds=F("active_seconds") + seconds, outcome=outcome) == 1


def lease_release(run_pk: int, fence: int) -> None:
    """Release the lease, so that the next owner need not wait."""
    Run.objects.filter(pk=run_pk, fence=fence).update(lease_owner="", lease_until=None)


def lease_mark_dispatched(run_pk: int) -> bool:
    """Claim the right to send one orchestrator task for a run without owner. False if another process claimed it."""
    free = Q(lease_until=None) | Q(lease_until__lt=Now())
    return _update_free(run_pk, free, lease_owner=ON_ITS_WAY, lease_until=Now() + timedelta(seconds=settings.LEASE_S))


def _update_free(run_pk: int, free: Q, **values: Any) -> bool:
    """Update a live run that is `free`, or whose owner was a process of this machine that has died."""
    live = Run.objects.filter(pk=run_pk, status__in=LIVE)
    if live.filter(free).update(**values):
        return True
    dead = _dead_owner(run_pk)
    return bool(dead and live.filter(lease_owner=dead).update(**values))


def runs_without_owner() -> list[int]:
    """Live runs whose lease has expired, or whose owner was a dead process of this machine."""
    expired = Q(lease_until=None) | Q(lease_until__lt=Now())
    live = Run.objects.filter(status__in=LIVE)
    found = list(live.filter(expired).values_list("pk", flat=True))
    here = live.filter(lease_owner__startswith=f"{socket.gethostname()}/").values_list("pk", "lease_owner")
    found += [pk for pk, owner in here if not _process_lives(owner) and pk not in found]
    if not found:  # The usual case, every second in every orchestrator: no need to read the limits of users.
        return []
    waiting = live.filter(~Q(preset__in=APART), pk__in=found, owner__in=owners_at_their_limit())
    must_wait_on = set(waiting.values_list("pk", flat=True))
    return [pk for pk in found if pk not in must_wait_on]


@transaction.atomic
def leases_void() -> int:
    """After a restore, release all live runs and invalidate their former owners; returns the number of live runs.

    A former owner may have any earlier fence of the run; the new fences are larger.
    """
    Run.objects.filter(fence__gt=0).update(fence=F("fence") + FENCES_OF_A_LOST_FUTURE)
    return Run.objects.filter(status__in=LIVE).update(lease_owner="", lease_until=None)


def run_close(run_pk: int, fence: int, status: RunStatus, *, reason: str = "") -> bool:
    """End the drive of a run in a final state. False if the fence has moved.

    Pending commands are rejected, except for a failed run, which receives them when it is resumed.
    """
    closed = Run.objects.filter(pk=run_pk, fence=fence).update(
        status=status, status_reason=reason, lease_owner="", lease_until=None, finished_at=Now()
    )
    if closed and status != RunStatus.FAILED:
        RunCommand.objects.filter(run=run_pk, state=RunCommand.State.PENDING).update(
            state=RunCommand.State.REFUSED, reason="The run ended before it could take effect."
        )
    return closed == 1


def _dead_owner(run_pk: int) -> str:
    """The owner's name if it was a process of this machine that has died."""
    owner = Run.objects.filter(pk=run_pk).values_list("lease_owner", flat=True).first() or ""
    return owner if owner.startswith(f"{socket.gethostname()}/") and not _process_lives(owner) else ""


def _process_lives(owner: str) -> bool:
    pid = int(owner.split("/")[1])
    if pid == os.getpid():
        return owner in _names
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
