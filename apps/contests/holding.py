"""What a contest holds back in the library: its problems, until it is over, from everybody who does not coach one with them.

Its students read the problems on the contest's own pages.
"""

from django.db.models import QuerySet

from apps.accounts.models import User
from apps.contests.models import ContestProblem, ContestState
from apps.problems.models import Problem

HOLDING = (ContestState.PREPARING, ContestState.OPEN, ContestState.MARKING)


def problems_held(user: User | None) -> QuerySet[Problem]:
    """The problems of contests that are not over, but those that `user` meets as a coach."""
    rows = ContestProblem.objects.filter(contest__state__in=HOLDING)
    return Problem.objects.filter(pk__in=rows.values("problem")).exclude(pk__in=problems_coached(user).values("pk"))


def problems_coached(user: User | None) -> QuerySet[Problem]:
    """The problems of the contests that `user` coaches, whatever their state."""
    if user is None or not user.may_see_runs:
        return Problem.objects.none()
    return Problem.objects.filter(pk__in=ContestProblem.objects.filter(contest__coaches__person=user).values("problem"))
