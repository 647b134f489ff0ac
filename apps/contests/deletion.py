"""Delete and restore contests, and show their problems in the library.

Only a contest without texts can be deleted. It stays in the database in the state `DELETED`; staff can list and restore it.
Each change is recorded.
"""

from django.db import transaction

from apps.accounts.models import User
from apps.contests.keeping import has_content
from apps.contests.models import Contest, ContestState
from apps.contests.record_keepers import event_publish
from apps.contests.services import ContestRefused, contest_locked


def deletion_refusal(contest: Contest) -> str:
    """Why a contest cannot be deleted; empty if it can."""
    if contest.state == ContestState.DELETED:
        return "The contest is already deleted."
    if has_content(contest):
        return "You cannot delete this contest: a student's text would be lost. Close the contest instead."
    return ""


@transaction.atomic
def contest_delete(*, contest: Contest, based_on: int, by: User | None = None) -> Contest:
    """Delete a contest without texts. Raises `ContestChanged`, `ContestRefused`."""
    contest = contest_locked(contest, based_on)
    if refusal := deletion_refusal(contest):
        raise ContestRefused(refusal)
    return _moved(contest, ContestState.DELETED, "contest.deleted", by)


@transaction.atomic
def contest_restore(*, contest: Contest, based_on: int, by: User | None = None) -> Contest:
    """Restore a deleted contest to preparation. Raises `ContestChanged`, and `ContestRefused` if it is not deleted."""
    contest = contest_locked(contest, based_on)
    if contest.state != ContestState.DELETED:
        raise ContestRefused("The contest is not deleted.")
    return _moved(contest, ContestState.PREPARING, "contest.restored", by)


@transaction.atomic
def problems_show(*, contest: Contest, shows: bool, based_on: int, by: User | None = None) -> Contest:
    """Show the problems of a contest to all readers of the library, or hide them. Raises `ContestChanged`."""
    contest = contest_locked(contest, based_on)
    if contest.shows_problems != shows:
        contest.shows_problems = shows
        contest.row_version += 1
        contest.save(update_fields=["shows_problems", "row_version", "updated_at"])
        event_publish(contest, "contest.problems-shown" if shows else "contest.problems-hidden", by)
    return contest


def _moved(contest: Contest, state: ContestState, verb: str, by: User | None) -> Contest:
    contest.state = state
    contest.row_version += 1
    contest.save(update_fields=["state", "row_version", "updated_at"])
    event_publish(contest, verb, by)
    return contest
