"""What stays held back when a contest is over: the solutions of its problems, until its organisers release them."""

from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.contests.holding import problems_coached
from apps.contests.models import ContestProblem, ContestState
from apps.marks.models import ReleaseBatch, ReleasePart
from apps.problems.models import Problem


def solutions_held(user: User | None) -> QuerySet[Problem]:
    """The problems of closed contests whose solutions no release shows, but those that `user` meets as a coach."""
    released = ReleaseBatch.objects.filter(undone_at=None, parts__icontains=f'"{ReleasePart.SOLUTION.value}"')
    waiting = ContestProblem.objects.filter(~Q(contest__in=released.values("contest")), contest__state=ContestState.CLOSED)
    return Problem.objects.filter(pk__in=waiting.values("problem")).exclude(pk__in=problems_coached(user).values("pk"))
