"""Practice on the home page: answers and returning problems for students, waiting questions for coaches."""

from apps.accounts.models import Role, User
from apps.practice.coaching.queue import practice_waiting
from apps.practice.path import Path, path_of


def path_own(user: User) -> Path | None:
    """The path of a student; None for others and before the first attempt."""
    path = path_of(user) if user.role == Role.STUDENT else None
    return path if path is not None and path.rows else None


def questions_of_practice(user: User) -> int:
    """The number of waiting questions outside sheets."""
    return practice_waiting(user) if user.role == Role.COACH else 0
