"""Entering a group of students for a contest at once."""

from django.db import transaction

from apps.accounts.models import Role, StudentGroup, User
from apps.accounts.selectors import member_list
from apps.contests.models import Contest
from apps.contests.services import ContestRefused, students_add


@transaction.atomic
def group_enter(*, contest: Contest, group: StudentGroup, by: User | None = None) -> tuple[int, int]:
    """Let all students of a group take part, or none: how many are new, and how many took part already.

    Later changes of the group do not reach the contest. Raises `ContestRefused` for a group without students, for one with
    somebody whose account is closed or is no student's any more, and as `students_add`.
    """
    members = [(member.person, member.school, "") for member in member_list(group)]
    if not members:
        raise ContestRefused(f"Nobody is in “{group.name}” yet.")
    if gone := [person.username for person, _, _ in members if not person.is_active or person.role != Role.STUDENT]:
        raise ContestRefused(
            f"{', '.join(gone[:10])}: no open account of a student any more. It must leave “{group.name}” first."
        )
    added = students_add(contest=contest, students=members, by=by)
    return added, len(members) - added
