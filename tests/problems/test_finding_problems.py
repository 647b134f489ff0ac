"""The list: search, filters, order, pagination and empty state."""

from collections.abc import Callable

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.accounts.models import User
from apps.problems.drafts import ProblemDraft
from apps.problems.models import Problem
from apps.problems.services import problem_create
from apps.runs.models import Run
from tests.problems.factory import ANSWER, SECRET, make_problem

ClientFor = Callable[[User | None], Client]


@pytest.fixture
def client(client_for: ClientFor, bob: User) -> Client:
    return client_for(bob)


def titles(client: Client, query: str = "") -> list[str]:
    return [problem.title for problem in client.get(f"/problems/?{query}").context["page"].object_list]


def test_words_are_found_in_title_source_and_statement(client: Client) -> None:
    make_problem("Two squares")
    make_problem("Circles", topic="G", source="Euler", statement="A tangent touches.")
    assert titles(client, "q=SQUARES") == ["Two squares"]
    assert titles(client, "q=euler") == ["Circles"]
    assert titles(client, "q=tangent+circles") == ["Circles"]
    assert titles(client, "q=tangent+squares") == []


def test_an_older_statement_is_not_searched(client: Client) -> None:
    problem = make_problem()
    problem.versions.create(number=2, statement="Quite another text.")
    assert titles(client, "q=primes") == []
    assert titles(client, "q=another") == [problem.title]


def test_filters_narrow_the_list(client: Client) -> None:
    make_problem("One", topic="A", year=1988, level="hard", source="IMO 1988")
    make_problem("Two", topic="N", year=2001, level="easy", source="IMO 2001")
    for query in ("topic=A", "year=1988", "level=hard", "source=1988", "topic=A&year=1988&q=one"):
        assert titles(client, query) == ["One"], query


def test_invalid_filters_are_ignored(client: Client) -> None:
    make_problem("One")
    for query in ("topic=Q", "year=abc", "year=²", "sort=pk", "page=99", "page=x", "q=%00one"):
        assert titles(client, query) == ["One"], query


def test_columns_sort_both_ways_and_gaps_come_last(client: Client) -> None:
    for title, year in (("b", 2001), ("a", 1999), ("c", None)):
        make_problem(title, year=year)
    assert titles(client) == ["a", "b", "c"]
    assert titles(client, "sort=-title") == ["c", "b", "a"]
    assert titles(client, "sort=year") == ["a", "b", "c"]
    assert titles(client, "sort=-year") == ["b", "a", "c"]


def test_the_list_counts_runs_for_those_who_see_runs(client: Client, client_for: ClientFor, charlie: User) -> None:
    for title, count in (("a", 1), ("b", 2)):
        version = make_problem(title).current
        for _ in range(count):
            Run.objects.create(title=title, problem_version=version, scaffold="x", spec={})
    assert titles(client, "sort=-runs") == ["b", "a"]
    assert titles(client_for(charlie), "sort=-runs") == ["a", "b"]
    assert b"Runs" not in client_for(charlie).get("/problems/").content


def test_pages_keep_the_filter(client: Client) -> None:
    for number in range(60):
        problem_create(draft=ProblemDraft(title=f"Problem {number:02}", topic="A", statement=f"Number {number}"))
    first = client.get("/problems/?topic=A")
    assert len(first.context["page"].object_list) == 50
    assert b"topic=A&amp;page=2" in first.content
    assert titles(client, "topic=A&page=2")[-1] == "Problem 59"


def test_the_number_of_queries_does_not_grow_with_the_list(
    client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        make_problem(f"Problem {number}")
    with django_assert_max_num_queries(8):
        client.get("/problems/?q=problem&sort=-runs")


def test_an_empty_library_suggests_the_first_step(client: Client, client_for: ClientFor, charlie: User) -> None:
    assert b"load_samples" in client.get("/problems/").content
    page = client_for(charlie).get("/problems/")
    assert b"No problems yet" in page.content
    assert b"load_samples" not in page.content
    assert not Problem.objects.exists()


def test_a_search_reveals_nothing_of_solutions(client_for: ClientFor, charlie: User, client: Client) -> None:
    make_problem()
    for words in (ANSWER, SECRET, "invariant"):
        assert titles(client_for(charlie), f"q={words}") == []
        assert titles(client, f"q={words}") == []
