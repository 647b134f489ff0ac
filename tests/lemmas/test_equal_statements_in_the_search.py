"""Lemmas on one problem that say the same are one row of the search, with the number of runs that hold it."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.lemmas.models import LemmaText
from apps.lemmas.search.selectors import LemmaFilter, lemmas_found, texts_of
from apps.lemmas.search.statements import Held, Statement, statements_of
from apps.problems.models import Problem
from apps.runs.models import Run
from tests.lemmas.factory import make_user
from tests.lemmas.test_sisters import SAME, a_run

pytestmark = pytest.mark.django_db
ClientFor = Callable[[User | None], Client]


@pytest.fixture
def reader() -> User:
    return make_user("ada")


def found(reader: User, **asked: str) -> list[Statement]:
    result = lemmas_found(reader, LemmaFilter(**asked))  # type: ignore[arg-type]
    return statements_of(reader, texts_of(result.ids))


def test_equal_statements_are_one_row_with_the_best_first(reader: User) -> None:
    held, failed, unjudged = a_run(SAME, "verified"), a_run(SAME.replace("^{2}", "^2"), "rejected"), a_run(SAME)
    [row] = found(reader, q="odd")
    assert row.text.run_id in (held.pk, failed.pk)
    assert {row.text.run_id, *(one.run_id for one in row.others)} == {held.pk, failed.pk, unjudged.pk}
    assert (row.lemmas, row.runs, row.held, row.held_words) == (3, 3, Held(1, 2), "Held in 1 of 2 runs")


def test_other_words_and_letters_are_rows_of_their_own(reader: User) -> None:
    for text in (SAME, SAME.replace("8", "24"), SAME.replace("$a$", "$n$").replace("a^", "n^")):
        a_run(text)
    assert [row.held_words for row in found(reader, q="odd")] == ["In 1 run"] * 3


def test_the_same_words_on_another_problem_are_another_statement(reader: User) -> None:
    a_run(SAME, "verified")
    other = a_run(SAME, "verified")
    problem = Problem.objects.create(slug="another", title="Another", topic="N")
    Run.objects.filter(pk=other.pk).update(problem_version=problem.versions.create(number=1, statement="Another."))
    assert [row.lemmas for row in found(reader)] == [1, 1]


def test_filters_choose_rows_but_the_verdicts_of_all_runs_count(reader: User) -> None:
    a_run(SAME, "verified")
    failed = a_run(SAME, "rejected")
    [row] = found(reader, verdict="rejected")
    assert (row.text.run_id, row.held) == (failed.pk, Held(1, 2))


def test_hidden_runs_copies_in_forks_and_authored_examples_are_not_counted(reader: User) -> None:
    a_run(SAME, "verified")
    grader, fork, authored = a_run(SAME, "verified"), a_run(SAME, "verified"), a_run(SAME, "verified")
    Run.objects.filter(pk=authored.pk).update(is_authored=True)
    Run.objects.filter(pk=grader.pk).update(scaffold="single_turn")
    LemmaText.objects.filter(run=fork).update(is_inherited=True)
    [row] = found(reader)
    assert (row.lemmas, row.held) == (3, Held(1, 1))


def test_all_versions_are_listed_one_by_one(reader: User) -> None:
    for _ in range(2):
        a_run(SAME)
    assert len(lemmas_found(reader, LemmaFilter(all_versions=True)).ids) == 2


def test_the_page_opens_a_row_to_its_members(reader: User, client_for: ClientFor) -> None:
    runs = [a_run(SAME, "verified"), a_run(SAME, "rejected")]
    html = client_for(reader).get(reverse("lemmas:search"), {"q": "odd"}).content.decode()
    assert "Held in 1 of 2 runs · 1 other lemma<" in html
    assert all(reverse("lemmas:lemma_panel", args=[run.public_id, "s0.1"]) in html for run in runs)


def test_the_api_has_the_counts_and_the_others(reader: User, client_for: ClientFor) -> None:
    runs = {str(a_run(SAME, verdict).public_id): verdict for verdict in ("verified", "rejected")}
    answer = client_for(reader).get("/api/v1/lemmas", {"q": "odd"}).json()
    [item] = answer["items"]
    assert (answer["total"], item["held_in"], item["judged_in"], item["lemmas"]) == (1, 1, 2, 2)
    [other] = item["others"]
    assert {item["run"]: item["status"], other["run"]: other["status"]} == runs
    assert other["lemma"] == "s0.1"
