"""Set the own times of a problem on a sheet."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.contests.models import ContestKind, ContestProblem, ContestState
from apps.contests.record_keepers import event_publish
from apps.contests.services import ContestRefused
from apps.ui.zones import stamped


@transaction.atomic
def times_set(*, row: ContestProblem, opens_at: datetime | None, closes_at: datetime | None, by: User) -> ContestProblem:
    """Set when students may read and hand in a problem, within the times of its sheet.

    Raises `ContestRefused` for a contest, a closed sheet, and times in the wrong order.
    """
    if row.contest.kind != ContestKind.SHEET:
        raise ContestRefused("Only problems of a training sheet have times of their own.")
    if row.contest.state not in (ContestState.PREPARING, ContestState.OPEN):
        raise ContestRefused("The times were not changed: the sheet is no longer open.")
    if opens_at is not None and closes_at is not None and opens_at >= closes_at:
        raise ContestRefused("The times were not changed: the closing time must be after the opening time.")
    row.opens_at, row.closes_at = opens_at, closes_at
    row.save(update_fields=["opens_at", "closes_at"])
    times = {name: stamped(at, row.zone) for name, at in (("opens_at", opens_at), ("closes_at", closes_at)) if at}
    event_publish(row.contest, "contest.problem-times", by, problem=str(row.public_id), **times)
    return row
