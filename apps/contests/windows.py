"""Whether a contest, or a problem of it, accepts texts and authors now, and the times of problems on a sheet."""

from datetime import datetime

from django.utils import timezone

from apps.contests.models import Contest, ContestKind, ContestProblem, ContestState


def adding_refusal(contest: Contest) -> str:
    """Why no author can be added now; empty if one can.

    During marking, readers of an anonymous contest could match a new paper to a new name. A sheet with names accepts students.
    """
    if contest.state == ContestState.MARKING and (contest.kind != ContestKind.SHEET or contest.is_anonymous):
        return "The contest is being marked. Reopen it first."
    return "The contest is closed." if contest.state == ContestState.CLOSED else ""


def hand_in_refusal(contest: Contest, now: datetime | None = None) -> str:
    """Why the contest accepts no submissions now; empty if it does. A sheet also accepts texts while it is being marked."""
    now = now or timezone.now()
    states = (ContestState.OPEN, ContestState.MARKING) if contest.kind == ContestKind.SHEET else (ContestState.OPEN,)
    if contest.state not in states:
        return "Nothing more can be handed in." if contest.state != ContestState.PREPARING else "The contest is not open yet."
    return _clock(contest, now, "The contest")


def writing_refusal(problem: ContestProblem, now: datetime | None = None) -> str:
    """Why no text for this problem is accepted now; empty if one is. A problem of a sheet may have its own times."""
    now = now or timezone.now()
    return hand_in_refusal(problem.contest, now) or _clock(problem, now, f"Problem {problem.label}")


def is_begun(problem: Contest | ContestProblem, now: datetime | None = None) -> bool:
    """Whether the own opening time of a problem, or of a whole contest, has come."""
    return problem.opens_at is None or problem.opens_at <= (now or timezone.now())


def _clock(row: Contest | ContestProblem, now: datetime, name: str) -> str:
    if row.opens_at is not None and now < row.opens_at:
        return f"{name} is not open yet."
    if row.closes_at is not None and now >= row.closes_at:
        return "The time is over. Nothing more can be handed in."
    return ""
