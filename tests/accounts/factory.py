"""Groups of students for tests, created by Bob."""

from apps.accounts.models import StudentGroup, User
from apps.accounts.services import group_create, members_add
from tests.cast import person


def a_group(*students: User, name: str = "Winter camp", by: User | None = None, school: str = "") -> StudentGroup:
    """A group with these students, created by Bob unless `by` is given."""
    group = group_create(name=name, by=by or person("bob"))
    members_add(group=group, members=[(student, school) for student in students])
    return group
