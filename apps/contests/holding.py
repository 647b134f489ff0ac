"""Hold back the problems of a contest in the library, from opening to closing, from all users but its coaches.

Students read the problems on the pages of the contest. Sheets and practice hold
nothing back. A contest in preparation holds nothing back and gives its coaches no
additional access. Staff can show the problems of a contest in the library (`shows_problems`).
"""

from dataclasses import dataclass

from django.db.models import QuerySet

from apps.accounts.models import Role, User
from apps.contests.models import Contest, ContestKind, ContestProblem, ContestState
from apps.problems.models import Problem

HOLDING = (ContestState.OPEN, ContestState.MARKING)
OPENED = (*HOLDING, ContestState.CLOSED)


def rows_holding() -> QuerySet[ContestProblem]:
    """Contest problems that are held back now."""
    return ContestProblem.objects.filter(
        contest__kind=ContestKind.CONTEST, contest__state__in=HOLDING, contest__shows_problems=False
    )


def problems_held(user: User | None) -> QuerySet[Problem]:
    """Held-back problems, except those of contests that `user` coaches."""
    held = Problem.objects.filter(pk__in=rows_holding().values("problem"))
    return held.exclude(pk__in=problems_coached(user).values("pk"))


def problems_coached(user: User | None) -> QuerySet[Problem]:
    """Problems of opened contests that `user` coaches."""
    if user is None or not user.may_see_runs:
        return Problem.objects.none()
    rows = ContestProblem.objects.filter(contest__coaches__person=user, contest__state__in=OPENED)
    return Problem.objects.filter(pk__in=rows.values("problem"))


@dataclass(frozen=True)
class AccessLost:
    """Numbers of those affected when a contest holds back its problems. `readers`: coaches and researchers of other contests;
    `contests`: other contests in preparation with one of the problems."""

    readers: int
    students: int
    contests: int


def access_lost(contest: Contest) -> AccessLost:
    """Count users and contests that lose access to the problems of a contest."""
    people = User.objects.filter(is_active=True).exclude(pk__in=contest.coaches.values("person"))
    students = people.filter(role=Role.STUDENT).count()
    others = Contest.objects.filter(state=ContestState.PREPARING, problems__problem__in=contest.problems.values("problem"))
    return AccessLost(people.count() - students, students, others.exclude(pk=contest.pk).distinct().count())


def held_elsewhere(contest: Contest, user: User) -> QuerySet[ContestProblem]:
    """Problems of a contest that other contests hold back from this user."""
    held = rows_holding().exclude(contest=contest)
    return contest.problems.filter(problem__in=held.values("problem")).exclude(problem__in=problems_coached(user).values("pk"))
