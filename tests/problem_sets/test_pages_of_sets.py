"""Pages of problem sets: import, a set with what models may know of it, splits, file."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from apps.problem_sets.importing import named_of
from apps.problem_sets.models import ProblemSet
from apps.problem_sets.services import set_create
from tests.cast import person
from tests.problems.factory import SECRET, jsonl, make_problem

pytestmark = pytest.mark.django_db
MODEL = """[one]
backend = "openai_http"
title = "Model one"
model = "m"
base_url = "http://localhost:1/v1"
knowledge_until = "2024-06"
"""


@pytest.fixture
def client(client: Client) -> Client:
    client.force_login(person("bob"))
    return client


def upload(client: Client, *rows: dict[str, str], **more: str):  # type: ignore[no-untyped-def]
    file = SimpleUploadedFile("bench.jsonl", jsonl(*rows))
    return client.post("/problem-sets/import/", {"file": file, "shape": "auto", **more}, follow=True)


GOOD = {"Problem ID": "b-1", "Problem": "Find $x$.", "Short Answer": "1", "Category": "Algebra", "Source": "IMO 2024"}


def test_a_file_is_a_set_in_one_step_and_rows_left_out_are_listed_on_its_page(client: Client) -> None:
    page = upload(client, GOOD, GOOD | {"Problem ID": "b-2", "Problem": ""}, title="My bench", credit="Me").content.decode()
    for words in (
        "My bench",
        "Version 1",
        "1 problem, 1 with a final answer",
        "1 row of the file is not in this set",
        "The statement is empty.",
    ):
        assert words in page


@pytest.mark.parametrize(
    ("row", "more", "words"),
    [
        (GOOD, {}, "Give the new set a title"),
        (GOOD | {"Problem": ""}, {"title": "A"}, "None of its rows can be imported"),
        ({"a": "b"}, {"title": "A"}, "Unknown columns"),
        (GOOD, {"title": "—"}, "letter or a digit"),
    ],
)
def test_a_file_that_gives_no_set_is_explained(client: Client, row: dict[str, str], more: dict[str, str], words: str) -> None:
    found = upload(client, row, **more)
    assert found.status_code == 422
    assert words in found.content.decode()
    assert not ProblemSet.objects.exists()


def test_the_page_says_what_models_may_know(client: Client, settings: Any, tmp_path: Path) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODEL)
    years = {"Old": 2024, "New": 2025, "Of no year": None}
    set_create(title="Three", items=named_of([make_problem(title, year=year) for title, year in years.items()]), by=None)
    page = client.get("/problem-sets/three/").content.decode()
    assert (
        '2024-06</td><td class="num" data-label="published before">1</td><td class="num" data-label="published later">1</td>'
        in page
    )


def test_a_problem_in_another_set_is_named_with_its_split_there(client: Client) -> None:
    problems = [make_problem(f"Problem {number}") for number in range(2)]
    set_create(title="First", items=named_of(problems), by=None)
    client.post("/problem-sets/first/split/", {"shares": "train 50, test 50", "seed": "1"})
    set_create(title="Second", items=named_of(problems[:1]), by=None)
    page = client.get("/problem-sets/second/").content.decode()
    assert "First (train)" in page or "First (test)" in page


def test_splits_that_cannot_be_read_are_refused_with_an_example(client: Client) -> None:
    set_create(title="First", items=named_of([make_problem()]), by=None)
    for shares, words in (("half", "Write for example"), ("a 50, a 50", "named twice"), ("a 50", "add up to 100")):
        assert words in client.post("/problem-sets/first/split/", {"shares": shares, "seed": "1"}, follow=True).content.decode()


def test_the_library_that_is_shown_becomes_a_set(client: Client) -> None:
    make_problem("Kept", level="Hard")
    make_problem("Not this one", level="Easy")
    assert "/problem-sets/from-library/?level=Hard" in client.get("/problems/?level=Hard").content.decode()
    url = "/problem-sets/from-library/?level=Hard"
    assert "the 1 problem that" in client.get(url).content.decode()
    page = client.post(url, {"title": "Hard ones"}, follow=True).content.decode()
    assert "Hard ones" in page
    assert "Kept" in page
    assert "Not this one" not in page
    again = client.post(url, {"title": "Hard ones"})
    assert again.status_code == 422
    assert "already a set" in again.content.decode()


def test_the_file_of_a_version_comes_back_as_the_same_set(client: Client) -> None:
    made = set_create(title="First", items=named_of([make_problem("One"), make_problem("Two")]), by=None)
    data = client.get("/problem-sets/first/file/").content
    assert SECRET in data.decode()
    file = SimpleUploadedFile("again.jsonl", data)
    client.post("/problem-sets/import/", {"file": file, "shape": "auto", "into": "first"})
    assert made.problem_set.versions.count() == 1


def test_students_find_no_sets(client: Client) -> None:
    set_create(title="First", items=named_of([make_problem()]), by=None)
    client.force_login(person("charlie"))
    assert {client.get(url).status_code for url in ("/problem-sets/", "/problem-sets/first/", "/problem-sets/first/file/")} == {
        404
    }


def test_an_unknown_version_is_not_found(client: Client) -> None:
    set_create(title="First", items=named_of([make_problem()]), by=None)
    assert [client.get(f"/problem-sets/first/?version={text}").status_code for text in ("1", "2", "x", "")] == [
        200,
        404,
        404,
        200,
    ]
