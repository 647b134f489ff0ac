"""What a contest holds back in the library: its problems, from opening to closing, from everybody who does not coach it.

Its students read the problems on the contest's own pages. A contest in preparation holds nothing back, and its coaches have no
more right to its problems than anybody else. Staff can let the library show the problems of a contest (`shows_problems`).
"""

from dataclasses import dataclass

from django.db.models import QuerySet

from apps.accounts.models import Role, User
from apps.contests.models import Contest, ContestProblem, ContestState
from apps.problems.models import Problem

HOLDING = (ContestState.OPEN, ContestState.MARKING)
OPENED = (*HOLDING, ContestState.CLOSED)


def rows_holding() -> QuerySet[ContestProblem]:
    """The problems of contests as far as they are held back."""
    return ContestProblem.objects.filter(contest__state__in=HOLDING, contest__shows_problems=False)


def problems_held(user: User | None) -> QuerySet[Problem]:
    """The problems of contests that were opened and are not over, but those that `user` meets as a coach."""
    held = Problem.objects.filter(pk__in=rows_holding().values("problem"))
    return held.exclude(pk__in=problems_coached(user).values("pk"))


def problems_coached(user: User | None) -> QuerySet[Problem]:
    """The problems of the contests that `user` coaches, once they were opened."""
    if user is None or not user.may_see_runs:
        return Problem.objects.none()
    rows = ContestProblem.objects.filter(contest__coaches__person=user, contest__state__in=OPENED)
    return Problem.objects.filter(pk__in=rows.values("problem"))


@dataclass(frozen=True)
class SightLost:
    """Who no longer finds problems in the library once a contest holds them back. `readers`: coaches and researchers who do not
    coach it; `contests`: others in preparation that have one of the problems."""

    readers: int
    students: int
    contests: int


def sight_lost(contest: Contest) -> SightLost:
    """Whom the library will not show the problems of a contest."""
    people = User.objects.filter(is_active=True).exclude(pk__in=contest.coaches.values("person"))
    students = people.filter(role=Role.STUDENT).count()
    others = Contest.objects.filter(state=ContestState.PREPARING, problems__problem__in=contest.problems.values("problem"))
    return SightLost(people.count() - students, students, others.exclude(pk=contest.pk).distinct().count())


def held_elsewhere(contest: Contest, user: User) -> QuerySet[ContestProblem]:
    """The problems of a contest that others hold back from this person."""
    held = rows_holding().exclude(contest=contest)
    return contest.problems.filter(problem__in=held.values("problem")).exclude(problem__in=problems_coached(user).values("pk"))
