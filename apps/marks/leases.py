"""Leases of tasks: two minutes, renewed by every sign of life. What a lease is: `assignee` until `lease_until`.

A lease that ran out is still its holder's until somebody else takes the script.
"""

from datetime import datetime, timedelta

from django.db.models import Case, F, Q, Value, When
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.access import TaskGone
from apps.marks.audit import audit
from apps.marks.models import Mark, MarkingTask, MarkState

LEASE = timedelta(minutes=2)
#: By so much the lease of the script in hand ends after those fetched ahead: it is the one to go on with.
_LATER = timedelta(milliseconds=1)
#: What somebody had begun and left, in the record for them alone: no ledger and no office shows it.
DRAFT_LEFT = "draft.left"


def is_free(now: datetime) -> Q:
    """Tasks that anybody may take: nobody's, or with a lease that ran out. One without an end is kept for its holder."""
    return Q(done_at=None) & (Q(assignee=None) | Q(lease_until__lt=now))


def lease_renew(task: MarkingTask, user: User) -> datetime:
    """Hold a task two minutes more, and with it those that were fetched ahead. Raises `TaskGone`.

    One that is kept longer stays so: without an end while the captain has a question about it, for an hour after the answer.
    """
    now = timezone.now()
    until = now + LEASE
    held = MarkingTask.objects.filter(pk=task.pk, assignee=user, done_at=None)
    kept = Case(When(Q(lease_until=None) | Q(lease_until__gt=until), then=F("lease_until")), default=Value(until))
    if not held.update(lease_until=kept):
        raise TaskGone("This script is no longer yours: the lease ran out and somebody else has it.")
    others = MarkingTask.objects.filter(case__problem=task.case.problem_id, assignee=user, done_at=None)
    others.filter(lease_until__gte=now, lease_until__lt=until).update(lease_until=until - _LATER)
    task.lease_until = until
    return until


def lease_lead(task: MarkingTask, user: User) -> None:
    """Let the lease of the script in hand end after the one that was just fetched ahead, where it is still held."""
    held = MarkingTask.objects.filter(pk=task.pk, assignee=user, done_at=None)
    until = timezone.now() + LEASE + _LATER
    held.filter(lease_until__lt=until).update(lease_until=until)


def lease_end(task: MarkingTask, user: User) -> bool:
    """Give a task back; whether it was held."""
    held = MarkingTask.objects.filter(pk=task.pk, assignee=user, done_at=None)
    return bool(held.update(assignee=None, lease_until=None))


def lease_keep(task: MarkingTask, user: User, until: datetime | None = None) -> bool:
    """Keep a task for its holder until a moment, or without an end; whether it was held."""
    return bool(MarkingTask.objects.filter(pk=task.pk, assignee=user, done_at=None).update(lease_until=until))


def drafts_leave(task: int, *, to: User | None) -> None:
    """Keep what somebody else than `to` had begun on a task in the record, where they find it again, and clear the table."""
    left = Mark.objects.filter(task=task, state=MarkState.DRAFT)
    left = left.exclude(marker=to) if to is not None else left
    for mark in left.select_related("task__case__problem__contest", "marker", "scheme_version"):
        if mark.row_version:
            version = mark.scheme_version.pk if mark.scheme_version else None
            audit(DRAFT_LEFT, actor=mark.marker, case=mark.task.case, sheet=mark.sheet, scheme_version=version)
        mark.delete()


def present(problem: ContestProblem, user: User) -> list[str]:
    """Who else is marking this problem now, by user name, and nothing of what they do."""
    live = MarkingTask.objects.filter(case__problem=problem, lease_until__gte=timezone.now(), done_at=None)
    names = live.exclude(assignee=user).order_by("assignee__username").values_list("assignee__username", flat=True)
    return [name for name in names.distinct() if name]
