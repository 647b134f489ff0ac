"""Rules that marking adds to the apps below it.

1. After a contest closes, the solutions of its problems stay held back until its organisers release them.
2. While a contest is being marked, only captains and organisers change the active version of its schemes.
3. Once a mark is sealed, the step of the points is fixed.
"""

from django.db.models import Q, QuerySet

from apps.accounts.models import User
from apps.contests.holding import problems_coached
from apps.contests.models import Contest, ContestKind, ContestProblem, ContestState
from apps.marks.access import captain_is
from apps.marks.models import Mark, ReleaseBatch, ReleasePart
from apps.problems.models import Problem
from apps.schemes.models import MarkingScheme


def solutions_held(user: User | None) -> QuerySet[Problem]:
    """Problems of closed contests whose solutions are held back, except contests that `user` coaches.

    A release, or staff showing the problems, ends this.
    """
    released = ReleaseBatch.objects.filter(undone_at=None, parts__icontains=f'"{ReleasePart.SOLUTION.value}"')
    waiting = ContestProblem.objects.filter(~Q(contest__in=released.values("contest")), contest__state=ContestState.CLOSED)
    waiting = waiting.filter(contest__kind=ContestKind.CONTEST)
    waiting = waiting.filter(contest__shows_problems=False)
    return Problem.objects.filter(pk__in=waiting.values("problem")).exclude(pk__in=problems_coached(user).values("pk"))


def scheme_use_refusal(scheme: MarkingScheme, user: User) -> str:
    """Why this user may not change the scheme's active version; empty if they may.

    Refused while a contest is being marked with it, except to captains and organisers.
    """
    marked = ContestProblem.objects.filter(setup__scheme=scheme, contest__state=ContestState.MARKING).select_related("contest")
    if all(captain_is(user, problem) for problem in marked):
        return ""
    return "A contest is being marked with this scheme. Only its captain or an organiser can change the active version."


def has_sealed_marks(contest: Contest) -> bool:
    """Whether any mark of this contest is sealed."""
    return Mark.objects.filter(task__case__problem__contest=contest, sealed_at__isnull=False).exists()
