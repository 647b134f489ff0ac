"""Who may see and make sets: those who read solutions. Problems that are held back from a reader are named without a text."""

from collections.abc import Iterable

from django.http import HttpRequest

from apps.accounts.access import user_allowed
from apps.accounts.models import User
from apps.problem_sets.models import ProblemSetItem
from apps.problems.access import solutions_may_read, solved_visible_to


def reader_of(request: HttpRequest) -> User:
    """The signed-in user. Raises `Http404` for one who may not read solutions."""
    return user_allowed(request, solutions_may_read)


def hidden_of(user: User, items: Iterable[ProblemSetItem]) -> set[int]:
    """Primary keys of the problems that `user` may not read for now."""
    wanted = {item.problem.problem_id for item in items}
    return wanted - set(solved_visible_to(user).filter(pk__in=wanted).values_list("pk", flat=True))
