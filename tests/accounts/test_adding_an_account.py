"""`manage.py add_account` creates accounts."""

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


def test_the_default_role_is_a_student_without_staff_rights(db: None) -> None:
    added("sophie")
    user = User.objects.get(username="sophie")
    assert user.role == Role.STUDENT
    assert not user.is_staff


def test_two_accounts_have_different_passwords(db: None) -> None:
    assert added("emmy").split()[1] != added("sophie").split()[1]


@pytest.mark.parametrize("name", ["emmy", "a name with spaces", ""])
def test_a_taken_or_invalid_name_is_rejected_with_a_reason(db: None, name: str) -> None:
    added("emmy")
    with pytest.raises(CommandError, match=r"\w+ \w+"):
        added(name)
    assert User.objects.count() == 1


def test_an_unknown_role_is_rejected(db: None) -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        added("emmy", "--role", "emperor")
    assert not User.objects.exists()
