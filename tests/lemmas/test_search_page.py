"""The page and the API that search the lemmas of all runs."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestState
from apps.runs.models import Run
from tests.contests.factory import make_contest
from tests.lemmas.checked import checked_story
from tests.lemmas.factory import make_story_run

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def run() -> Run:
    return make_story_run(checked_story())


@pytest.fixture
def client(alice: User, client_for: ClientFor) -> Client:
    return client_for(alice)


def page(client: Client, **asked: str) -> str:
    response = client.get(reverse("lemmas:search"), asked)
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_shows_marked_statements_with_verdicts_and_links(client: Client, run: Run) -> None:
    html = page(client, q="odd integers", formula=r"16 \mid")
    assert "1 statement found" in html
    assert "<mark>odd</mark>" in html
    assert "marked--found" in html
    assert reverse("lemmas:lemma_panel", args=[run.public_id, "s0.7"]) in html
    assert "3 of 4 votes" in html


def test_an_empty_search_lists_the_newest_and_pages_keep_the_filters(client: Client, run: Run) -> None:
    make_story_run()
    asked = {"topic": "N", "all_versions": "1"}
    html = page(client, **asked)
    assert "1 of 2" in html
    assert "?topic=N&amp;all_versions=1&amp;page=2" in html
    assert "2 of 2" in page(client, **asked, page="2")
    assert "2 of 2" in page(client, **asked, page="99")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"since": "yesterday"}, "“yesterday” is no date."), ({"confidence": "150"}, "“150” is no confidence."),
        ({"verdict": "maybe"}, "“maybe” is no verdict."), ({"topic": "Z"}, "“Z” is no topic."),
        ({"confidence": "nan"}, "“nan” is no"),
        ({"finding": "x"}, "is no result of the formula check"), ({"q": "!!"}, "Only signs that cannot be searched"),
    ],
)  # fmt: skip
def test_wrong_values_get_a_sentence(asked: dict[str, str], sentence: str, client: Client, run: Run) -> None:
    assert sentence in page(client, **asked)


def test_nothing_found_says_what_to_do(client: Client, run: Run) -> None:
    assert "No lemma matches." in page(client, q="hippopotamus")
    assert "Show all lemmas" in page(client, q="hippopotamus")


def test_a_student_gets_no_page(charlie: User, client_for: ClientFor) -> None:
    assert client_for(charlie).get(reverse("lemmas:search")).status_code == 404


def test_the_api_finds_the_same_with_the_places_of_matches(client: Client, run: Run) -> None:
    answer = client.get("/api/v1/lemmas", {"q": "odd integers", "formula": r"16 \mid"}).json()
    assert (answer["total"], answer["page"], answer["notes"]) == (1, 1, [])
    [item] = answer["items"]
    assert (item["lemma"], item["run"], item["problem"]) == ("s0.7", str(run.public_id), "p4-minus-1")
    assert (item["finding"], item["is_latest"], item["confidence"]) == ("survived", True, 0.75)
    assert "odd" in [item["statement"][start:end] for start, end in item["matches"]]


@pytest.mark.parametrize(
    "asked", [{"topic": "Z"}, {"confidence": "2"}, {"since": "x"}, {"q": "\0"}, {"verdict": "maybe"}, {"page": "0"}]
)
def test_the_api_refuses_wrong_values(asked: dict[str, str], client: Client) -> None:
    assert client.get("/api/v1/lemmas", asked).status_code == 422


def test_the_api_hides_held_back_problems_and_refuses_students(
    client: Client, run: Run, bob: User, charlie: User, client_for: ClientFor
) -> None:
    make_contest(bob, run.problem_version.problem, state=ContestState.OPEN)
    assert client.get("/api/v1/lemmas", {"q": "odd"}).json()["total"] == 0
    assert client_for(charlie).get("/api/v1/lemmas").status_code == 404
