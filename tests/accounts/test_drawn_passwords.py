"""Drawn passwords can be written on paper and opened in a spreadsheet program."""

import re

import pytest

from apps.accounts.enrolling import NewStudent, password_address, passwords_prepare, students_create
from apps.accounts.models import User
from apps.accounts.services import AccountRefused


def test_passwords_are_letters_and_digits_and_the_same_in_the_file() -> None:
    passwords = [one.text for one in passwords_prepare(40)]
    assert len(set(passwords)) == 40
    assert all(re.fullmatch(r"[a-z][a-z2-9]{13}", one) for one in passwords)
    address = password_address([(User(username=f"kid{number}"), word) for number, word in enumerate(passwords)])
    assert all(f"%2C{word}%0D%0A" in address or f"%2C{word}%0A" in address for word in passwords)


@pytest.mark.django_db
def test_a_made_up_user_name_takes_none_that_the_list_gives() -> None:
    students = [NewStudent(given="Anna", family="K"), NewStudent(username="Anna.K")]
    made = students_create(students=students, passwords=passwords_prepare(2))
    assert [user.username for user, _ in made] == ["anna.k2", "Anna.K"]


@pytest.mark.django_db
def test_a_user_name_that_is_taken_meanwhile_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    User.objects.create_user("anna.k")
    monkeypatch.setattr("apps.accounts.enrolling.usernames_taken", set)
    with pytest.raises(AccountRefused, match="created an account of one of these names meanwhile"):
        students_create(students=[NewStudent(username="anna.k")], passwords=passwords_prepare(1))
