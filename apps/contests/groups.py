"""Add a group of students to a contest."""

from django.db import transaction

from apps.accounts.models import Role, StudentGroup, User
from apps.accounts.selectors import member_list
from apps.contests.models import Contest
from apps.contests.services import ContestRefused, students_add


@transaction.atomic
def group_enter(*, contest: Contest, group: StudentGroup, by: User | None = None) -> tuple[int, int]:
    """Add all students of a group or none. Returns the numbers of new and of already present students.

    Later changes of the group do not affect the contest. Raises `ContestRefused` if the group is empty, if a member has a
    closed account or is no longer a student, and as `students_add`.
    """
    members = [(member.person, member.school, "") for member in member_list(group)]
    if not members:
        raise ContestRefused(f"The group “{group.name}” has no students yet.")
    if invalid := [person.username for person, _, _ in members if not person.is_active or person.role != Role.STUDENT]:
        raise ContestRefused(f"{', '.join(invalid[:10])}: no open student account. Remove it from “{group.name}” first.")
    added = students_add(contest=contest, students=members, by=by)
    return added, len(members) - added
