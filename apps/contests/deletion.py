"""Deleting a contest in which nothing was written, and what staff can undo of contests.

A deleted contest is kept, in the state `DELETED`: only staff see it and can restore it. Each change is recorded.
"""

from django.db import transaction

from apps.accounts.models import User
from apps.contests.keeping import has_content
from apps.contests.models import Contest, ContestState
from apps.contests.services import ContestRefused, contest_locked
from apps.contests.telling import told


def deletion_refusal(contest: Contest) -> str:
    """Why a contest cannot be deleted; empty where it can."""
    if contest.state == ContestState.DELETED:
        return "The contest is deleted already."
    if has_content(contest):
        return "This contest cannot be deleted: a student wrote or handed in a text, which would be lost. Close it instead."
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
    """Bring a deleted contest back, in preparation. Raises `ContestChanged`, `ContestRefused` where it is not deleted."""
    contest = contest_locked(contest, based_on)
    if contest.state != ContestState.DELETED:
        raise ContestRefused("The contest is not deleted.")
    return _moved(contest, ContestState.PREPARING, "contest.restored", by)


@transaction.atomic
def problems_show(*, contest: Contest, shows: bool, based_on: int, by: User | None = None) -> Contest:
    """Let the library show the problems of a contest to everybody, or hide them again. Raises `ContestChanged`."""
    contest = contest_locked(contest, based_on)
    if contest.shows_problems != shows:
        contest.shows_problems = shows
        contest.row_version += 1
        contest.save(update_fields=["shows_problems", "row_version", "updated_at"])
        told(contest, "contest.problems-shown" if shows else "contest.problems-hidden", by)
    return contest


def _moved(contest: Contest, state: ContestState, verb: str, by: User | None) -> Contest:
    contest.state = state
    contest.row_version += 1
    contest.save(update_fields=["state", "row_version", "updated_at"])
    told(contest, verb, by)
    return contest
