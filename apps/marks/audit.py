"""The record of who did what: one event per change, written in the transaction of the change."""

from typing import Any

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.marks.models import AuditEvent, Mark, MarkingCase


def audit(
    verb: str,
    *,
    actor: User | None,
    case: MarkingCase | None = None,
    contest: Contest | None = None,
    mark: Mark | None = None,
    **body: Any,
) -> AuditEvent:
    """Record an event. Without an actor it belongs to the system. `body` is JSON: versions before and after, reasons."""
    kind = "person" if actor is not None else "system"
    where = contest or (case.problem.contest if case is not None else None)
    return AuditEvent.objects.create(contest=where, actor=actor, actor_kind=kind, verb=verb, case=case, mark=mark, body=body)
