"""Leases of tasks: `assignee` until `lease_until`, two minutes long, renewed by every sign of activity.

An expired lease still belongs to its holder until another marker takes the script.
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
#: The lease of the script in hand ends this much after those fetched ahead, so that claiming returns it first.
_LATER = timedelta(milliseconds=1)
#: A draft that its marker left. Only that marker gets it back; no ledger and no office page shows it.
DRAFT_LEFT = "draft.left"


def is_free(now: datetime) -> Q:
    """Tasks that any marker may take: unassigned, or with an expired lease. A lease without an end is never free."""
    return Q(done_at=None) & (Q(assignee=None) | Q(lease_until__lt=now))


def lease_renew(task: MarkingTask, user: User) -> datetime:
    """Renew the lease of a task and of tasks fetched ahead by two minutes. Raises `TaskGone`.

    Keeps a longer lease: unlimited during a question to the captain, one hour after the answer.
    """
    now = timezone.now()
    until = now + LEASE
    held = MarkingTask.objects.filter(pk=task.pk, assignee=user, done_at=None)
    kept = Case(When(Q(lease_until=None) | Q(lease_until__gt=until), then=F("lease_until")), default=Value(until))
    if not held.update(lease_until=kept):
        raise TaskGone("This script is no longer assigned to you: your lease expired and another marker has it.")
    others = MarkingTask.objects.filter(case__problem=task.case.problem_id, assignee=user, done_at=None)
    others.filter(lease_until__gte=now, lease_until__lt=until).update(lease_until=until - _LATER)
    task.lease_until = until
    return until


def lease_prioritise(task: MarkingTask, user: User) -> None:
    """Make the lease of the script in hand end after the one fetched ahead, if it is still held."""
    held = MarkingTask.objects.filter(pk=task.pk, assignee=user, done_at=None)
    until = timezone.now() + LEASE + _LATER
    held.filter(lease_until__lt=until).update(lease_until=until)


def lease_end(task: MarkingTask, user: User) -> bool:
    """Release a task; returns whether the user held it."""
    held = MarkingTask.objects.filter(pk=task.pk, assignee=user, done_at=None)
    return bool(held.update(assignee=None, lease_until=None))


def lease_keep(task: MarkingTask, user: User, until: datetime | None = None) -> bool:
    """Reserve a task for its holder until a time, or without an end; returns whether the user held it."""
    return bool(MarkingTask.objects.filter(pk=task.pk, assignee=user, done_at=None).update(lease_until=until))


def drafts_archive(task: int, *, to: User | None) -> None:
    """Move drafts on a task by markers other than `to` into the record, where their markers get them back."""
    left = Mark.objects.filter(task=task, state=MarkState.DRAFT)
    left = left.exclude(marker=to) if to is not None else left
    for mark in left.select_related("task__case__problem__contest", "marker", "scheme_version"):
        if mark.row_version:
            version = mark.scheme_version.pk if mark.scheme_version else None
            audit(DRAFT_LEFT, actor=mark.marker, case=mark.task.case, sheet=mark.sheet, scheme_version=version)
        mark.delete()


def present(problem: ContestProblem, user: User) -> list[str]:
    """User names of the others who are marking this problem now."""
    live = MarkingTask.objects.filter(case__problem=problem, lease_until__gte=timezone.now(), done_at=None)
    names = live.exclude(assignee=user).order_by("assignee__username").values_list("assignee__username", flat=True)
    return [name for name in names.distinct() if name]
