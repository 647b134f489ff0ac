"""A pasted list with unknown names: those with an account are added, the others are listed, and may get accounts."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from apps.accounts.models import Role, User
from apps.contests.models import Contest
from tests.contests.factory import make_contest

ClientFor = Callable[[User | None], Client]
LIST = "charlie, North; 17\nnew.one, South\nÁgi Nagy, South\n"


@pytest.fixture
def contest(bob: User) -> Contest:
    return make_contest(bob)


def post(client: Client, contest: Contest, **sent: str) -> str:
    answer = client.post(reverse("contests:roster", args=[contest.public_id]), sent)
    return answer.content.decode()


def names(contest: Contest) -> list[tuple[str, str]]:
    return sorted(contest.identities.values_list("person__username", "school"))


def test_known_students_are_added_and_the_others_stay_in_the_field(
    contest: Contest, bob: User, charlie: User, client_for: ClientFor
) -> None:
    page = post(client_for(bob), contest, students=LIST)
    assert names(contest) == [("charlie", "North")]
    assert "No open account for 2 of these lines: new.one, Ági Nagy." in page
    assert page.partition("<textarea")[2].partition(">")[2].partition("<")[0].split("\n") == [
        "", "new.one, South", "Ági Nagy, South",
    ]  # fmt: skip
    assert "Create accounts and add" in page


def test_the_others_get_accounts_with_passwords_that_are_shown_once(
    contest: Contest, bob: User, charlie: User, client_for: ClientFor
) -> None:
    client = client_for(bob)
    page = post(client, contest, students=LIST, create="1")
    assert names(contest) == [("agi.nagy", "South"), ("charlie", "North"), ("new.one", "South")]
    assert User.objects.get(username="agi.nagy").get_full_name() == "Ági Nagy"
    password = page.partition("<td>new.one</td>")[2].partition('<td class="mono">')[2].partition("</td>")[0]
    assert Client().login(username="new.one", password=password)
    assert f"new.one%2C%2C{password}" in page
    assert password not in client.get(reverse("contests:roster", args=[contest.public_id])).content.decode()
    assert set(User.objects.exclude(username__in=["bob", "charlie"]).values_list("role", flat=True)) == {Role.STUDENT}


def test_a_coach_without_the_right_creates_none(
    contest: Contest, bob: User, charlie: User, client_for: ClientFor, settings: Settings
) -> None:
    settings.COACHES_CREATE_ACCOUNTS = False
    page = post(client_for(bob), contest, students=LIST, create="1")
    assert names(contest) == [("charlie", "North")]
    assert "Create accounts and add" not in page
    assert not User.objects.filter(username="new.one").exists()


def test_an_e_mail_address_names_an_account(contest: Contest, bob: User, charlie: User, client_for: ClientFor) -> None:
    post(client_for(bob), contest, students="Charlie@Example.org, North")
    assert names(contest) == [("charlie", "North")]


def test_a_name_that_cannot_be_an_account_stops_the_list_with_the_reason(
    contest: Contest, bob: User, client_for: ClientFor
) -> None:
    page = post(client_for(bob), contest, students="a@b, South\nnew.one", create="1")
    assert "“a@b” is no e-mail address. No students were added." in page
    assert not contest.identities.exists()
    assert not User.objects.filter(username="new.one").exists()


def test_a_name_that_is_twice_in_the_list_is_listed(contest: Contest, bob: User, charlie: User, client_for: ClientFor) -> None:
    page = post(client_for(bob), contest, students="charlie\nÁgi Nagy\nÁgi Nagy\nnew.one, South\nnew.one, North")
    assert "More than once in the list: Ági Nagy, new.one. Equal lines counted once." in page
