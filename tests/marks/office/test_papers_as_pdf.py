"""A marked paper as PDF: the words to the student with the number of the paper, for organisers, without a name."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.models import MarkingCase
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare
from apps.ui.typeset import press
from tests.answers import pdf_text
from tests.marks.factory import claimed, commanded, past_grace, problem_to_mark, script_add, sealed

ClientFor = Callable[[User | None], Client]
NAME = "Zebulon Quartermaine"


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    press.MADE.clear()


@pytest.fixture
def problem(bob: User) -> ContestProblem:
    """Create a script of a named author, settled with a verdict, comments and a reason."""
    problem = problem_to_mark(bob, scripts=0, asks_place=False)
    script_add(problem, NAME)
    cases_prepare(problem)
    task = claimed(problem, bob)
    commanded(task, bob, "verdict", id="v1", step=2, fallacy="gap", words="Why is $p > 2$?")
    commanded(task, bob, "comment", id="c1", step=1, words="A good beginning.")
    commanded(task, bob, "comment", id="c2", step=0, words="sentinel-for-markers", audience="markers")
    past_grace(sealed(task, bob, ("claim", {"line": "A1 -D1"}), ("reason", {"words": "sentinel-reason"})))
    cases_settle(problem.contest)
    return problem


def address(problem: ContestProblem) -> str:
    case = MarkingCase.objects.get(problem=problem)
    return reverse("office:paper_pdf", args=[problem.contest.public_id, case.version.submission.paper.number])


def test_the_pdf_contains_the_words_to_the_student(problem: ContestProblem, bob: User, client_for: ClientFor) -> None:
    number = MarkingCase.objects.get(problem=problem).version.submission.paper.number
    answer = client_for(bob).get(address(problem))
    assert answer["Content-Type"] == "application/pdf"
    assert f"paper-{number}.pdf" in answer["Content-Disposition"]
    text = pdf_text(answer.content)
    for words in (f"Paper {number}", "Problem 1: 2 of 7", "Gap", "Why is", "A good beginning."):
        assert words in text, words
    for words in ("Zebulon", "Quartermaine", "sentinel", "bob"):
        assert words.casefold() not in text.casefold(), words
    page = client_for(bob).get(address(problem).removesuffix("pdf/")).content.decode()
    assert address(problem) in page


def test_the_pdf_is_for_organisers(problem: ContestProblem, alice: User, charlie: User, client_for: ClientFor) -> None:
    for person in (alice, charlie):
        assert client_for(person).get(address(problem)).status_code == 404


def test_the_page_explains_why_no_pdf_can_be_made(
    problem: ContestProblem, bob: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(press, "is_possible", lambda: False)
    answer = client_for(bob).get(address(problem), follow=True)
    assert "This server cannot create PDFs" in answer.content.decode()


def test_the_page_asks_to_retry_while_other_pdfs_are_being_made(
    problem: ContestProblem, bob: User, client_for: ClientFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(press, "WAIT_S", 0.01)
    with ExitStack() as places:
        for _ in range(press.AT_ONCE):
            places.enter_context(press.PLACES)
        client = client_for(bob)
        client.raise_request_exception = False
        answer = client.get(address(problem))
    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert "The server is creating other PDFs" in answer.content.decode()
    assert f'href="{address(problem)}"' in answer.content.decode()
