"""Saved views of the list: each person's own, shared by their address."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.desk.models import SavedView
from apps.desk.services import VIEWS_AT_MOST
from tests.run_list.factory import make_run, page, said, titles

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def client(alice: User, client_for: ClientFor) -> Client:
    return client_for(alice)


def save(client: Client, name: str, query: str = "", **more: str) -> str:
    return said(client, client.post(reverse("explorations:run_view"), {"name": name, "query": query, **more}))


def test_a_view_keeps_filters_and_order_and_its_address_works_for_others(
    client: Client, client_for: ClientFor, alice: User, bob: User
) -> None:
    make_run(alice, "Squares")
    make_run(bob, "Primes")
    assert "The view “Own runs” is saved." in save(client, "Own  runs", "q=&owner=alice&sort=-tokens&page=3")
    view = SavedView.objects.get(owner=alice)
    assert (view.name, view.query) == ("Own runs", "owner=alice&sort=-tokens"), "neither empty filters nor the page"
    assert 'href="/runs/?owner=alice&amp;sort=-tokens">Own runs</a>' in page(client)
    assert 'aria-current="page">Own runs</a>' in page(client, "?owner=alice&sort=-tokens")
    assert "Own runs" not in page(client_for(bob)), "views are personal"
    assert titles(client_for(bob), f"?{view.query}") == ["Squares"]


def test_the_same_name_replaces_a_view_and_only_its_owner_deletes_it(client: Client, client_for: ClientFor, bob: User) -> None:
    save(client, "Mine", "owner=alice")
    save(client, "Mine", "owner=bob")
    assert SavedView.objects.get().query == "owner=bob"
    assert "There is no view of this name." in save(client_for(bob), "Mine", action="delete")
    assert SavedView.objects.exists()
    assert "The view was deleted." in save(client, "Mine", action="delete")
    assert not SavedView.objects.exists()


@pytest.mark.parametrize(
    ("name", "query", "words"),
    [
        ("", "", "one to 60 characters"),
        ("x" * 61, "", "one to 60 characters"),
        ("Long", "q=" + "x" * 1000, "Shorten the words"),
    ],
)
def test_an_unusable_view_is_refused_in_words(client: Client, name: str, query: str, words: str) -> None:
    assert words in save(client, name, query)
    assert not SavedView.objects.exists()


def test_a_person_has_a_limited_number_of_views(client: Client, alice: User) -> None:
    SavedView.objects.bulk_create(SavedView(owner=alice, name=f"View {number}") for number in range(VIEWS_AT_MOST))
    assert "You already have 50 saved views. Delete one first." in save(client, "One more")
    assert "is saved" in save(client, "View 3", "owner=alice")


def test_an_address_of_another_site_is_not_followed(client: Client) -> None:
    answer = client.post(reverse("explorations:run_view"), {"name": "x", "query": "//evil.example/?a=b"})
    assert answer["Location"].startswith("/runs/?")
