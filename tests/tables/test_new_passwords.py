"""Passwords that were lost, as after a double click: new ones are drawn for accounts of an import that were never used."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.marks.models import AuditEvent
from apps.tables.models import TableImport
from tests.contests.factory import make_contest
from tests.tables.factory import post, upload, words

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def bobs(bob: User, client_for: ClientFor) -> Client:
    return client_for(bob)


@pytest.fixture
def record(bob: User, bobs: Client) -> TableImport:
    file = upload(bobs, make_contest(bob), b"User name,Name\nanna.k,Anna\nben.k,Ben\n")
    post(bobs, file, "preview", unknown="account")
    post(bobs, file)
    return TableImport.objects.get()


def page(client: Client, record: TableImport) -> str:
    return words(client.get(reverse("tables:imported", args=[record.public_id])).content.decode())


def test_new_passwords_are_drawn_for_accounts_that_were_never_used(record: TableImport, bobs: Client) -> None:
    User.objects.filter(username="ben.k").update(last_login=timezone.now())
    before = User.objects.get(username="ben.k").password
    assert "1 new account was never used. If their passwords are lost" in page(bobs, record)
    answer = words(bobs.post(reverse("tables:imported_passwords", args=[record.public_id])).content.decode())
    password = answer.partition("User name Name Password anna.k Anna ")[2].split()[0]
    assert Client().login(username="anna.k", password=password)
    assert User.objects.get(username="ben.k").password == before
    assert password not in page(bobs, record)
    assert AuditEvent.objects.get(verb="contest.passwords").body == {"accounts": 1}


def test_accounts_that_were_all_used_keep_their_passwords(record: TableImport, bobs: Client) -> None:
    User.objects.filter(username__in=["anna.k", "ben.k"]).update(last_login=timezone.now())
    assert "Draw new passwords" not in page(bobs, record)
    answer = bobs.post(reverse("tables:imported_passwords", args=[record.public_id]), follow=True)
    assert "No password was drawn: every account of this import was signed in to." in words(answer.content.decode())


def test_others_and_who_may_create_no_accounts_draw_none(
    record: TableImport, bobs: Client, dana: User, client_for: ClientFor, settings: Settings
) -> None:
    address = reverse("tables:imported_passwords", args=[record.public_id])
    assert client_for(dana).post(address).status_code == 404
    settings.COACHES_CREATE_ACCOUNTS = False
    assert bobs.post(address).status_code == 404
    assert "Draw new passwords" not in page(bobs, record)


def test_a_closed_account_keeps_its_password(record: TableImport, bobs: Client) -> None:
    User.objects.filter(username="anna.k").update(is_active=False)
    assert "1 new account was never used" in page(bobs, record)
