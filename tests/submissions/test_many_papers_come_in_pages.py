"""The list of papers is paginated and searchable by number."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import Contest, ContestState, Paper
from tests.contests.factory import copied_papers, enter, hand_in, make_contest, moved

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def contest(bob: User, charlie: User) -> Contest:
    """A contest with 250 texts and 20 papers without a text."""
    contest = make_contest(bob, state=ContestState.OPEN)
    copied_papers(hand_in(*enter(contest, charlie)), 249)
    Paper.objects.bulk_create(Paper(contest=contest) for _ in range(20))
    return moved(contest, ContestState.MARKING)


def numbers(page: str) -> list[str]:
    return re.findall(r'class="contest-number" scope="row">(\w+)<', page)


def page_of(client: Client, contest: Contest, **query: str | int) -> str:
    return client.get(reverse("submissions:paper_list", args=[contest.public_id]), query).content.decode()


def test_the_pages_list_all_papers_once_and_in_order(contest: Contest, bob: User, client_for: ClientFor) -> None:
    client = client_for(bob)
    pages = [numbers(page_of(client, contest, page=number)) for number in (1, 2, 3)]
    assert [len(page) for page in pages] == [100, 100, 50]
    assert [number for page in pages for number in page] == sorted(
        paper.number for paper in contest.papers.exclude(submissions=None)
    )


def test_a_page_needs_a_fixed_number_of_queries(
    contest: Contest, bob: User, client_for: ClientFor, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    client = client_for(bob)
    with django_assert_max_num_queries(15):  # type: ignore[attr-defined]
        page_of(client, contest, page=2)


def test_a_number_finds_its_paper_and_texts(contest: Contest, bob: User, client_for: ClientFor) -> None:
    paper = contest.identities.get().paper
    page = page_of(client_for(bob), contest, number=paper.number.lower())
    assert numbers(page) == [paper.number]
    assert ">read</a>" in page


@pytest.mark.parametrize("asked", ["AEIOU", "\0", "<b>", "%"])
def test_an_unknown_number_finds_nothing(asked: str, contest: Contest, bob: User, client_for: ClientFor) -> None:
    page = page_of(client_for(bob), contest, number=asked)
    assert "<b>" not in page
    assert "No paper has a number that begins with" in page or asked == "\0"
