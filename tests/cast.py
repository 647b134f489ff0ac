"""The users of the tests: Alice owns, Bob watches, Charlie must see no runs, Dana is staff.

| user | role | purpose |
|---|---|---|
| alice | researcher | owns the objects of a test |
| bob | coach | sees runs, does not steer them |
| charlie | student | sees problems only |
| dana | coach | staff |
"""

from apps.accounts.models import Role, User

PASSWORD = "a fixed point theorem"
ROLES = {"alice": Role.RESEARCHER, "bob": Role.COACH, "charlie": Role.STUDENT, "dana": Role.COACH}


def person(name: str) -> User:
    """The user of this name, created at the first call. Needs the database."""
    found = User.objects.filter(username=name).first()
    return found or User.objects.create_user(
        name, f"{name}@example.org", PASSWORD, role=ROLES[name], first_name=name.title(), is_staff=name == "dana"
    )
