"""`manage.py add_account`: the first person of a new installation, and everyone after."""

import io

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from apps.accounts.models import Role, User


def added(*arguments: str) -> str:
    out = io.StringIO()
    call_command("add_account", *arguments, stdout=out)
    return out.getvalue()


def test_the_printed_password_signs_in(db: None) -> None:
    name, password, *rest = added("emmy", "--role", "researcher", "--staff").split()
    assert rest == ["researcher", "(staff)"]
    user = authenticate(username=name, password=password)
    assert isinstance(user, User)
    assert user.role == Role.RESEARCHER
    assert user.is_staff
    assert not user.is_superuser


def test_without_a_role_it_is_a_student_who_is_not_staff(db: None) -> None:
    added("sophie")
    user = User.objects.get(username="sophie")
    assert user.role == Role.STUDENT
    assert not user.is_staff


def test_two_accounts_have_different_passwords(db: None) -> None:
    assert added("emmy").split()[1] != added("sophie").split()[1]


@pytest.mark.parametrize("name", ["emmy", "a name with spaces", ""])
def test_a_name_that_is_taken_or_impossible_is_refused_in_words(db: None, name: str) -> None:
    added("emmy")
    with pytest.raises(CommandError, match=r"\w+ \w+"):
        added(name)
    assert User.objects.count() == 1


def test_a_role_that_does_not_exist_is_refused(db: None) -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        added("emmy", "--role", "emperor")
    assert not User.objects.exists()
