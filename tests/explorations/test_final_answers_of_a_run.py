"""Where a run's final answer is compared with the problem's, pages, exports and the API show the outcome with its reason."""

import json
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.exports import export_lines
from apps.lemmas.final_answers import final_answer_of
from apps.runs.models import Run
from tests.datasets.factory import driven, queued, version_of
from tests.reasoning.candidates import PASS
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)


def answered(line: str, answer: str = "$2$") -> Run:
    """A finished run whose solution ends with `line`."""
    run = queued(version_of(answer=answer), params={"accept": 1}, capture=False)
    return driven(run, lambda request: PASS if request.key.startswith("check/") else proof("We add.", line))


@pytest.mark.parametrize(
    ("line", "outcome", "words"),
    [
        ("Answer: $\\frac{4}{2}$", "equal", "Equal as exact numbers."),
        ("Answer: $3$", "different", "Different numbers."),
        ("Answer: as big as can be", "undecided", "could not be read"),
        ("And so we are done.", "undecided", "The solution states no answer"),
    ],
)
def test_the_page_of_a_run_shows_the_outcome_with_its_reason(
    alice: User, client_for: Callable[[User | None], Client], line: str, outcome: str, words: str
) -> None:
    run = answered(line)
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert page.count(f'data-answer="{outcome}"') == 2, "next to the solution and next to the proof"
    assert words in page
    found = final_answer_of(run)
    assert found is not None
    assert (found["outcome"], found["expected"]) == (outcome, "$2$")
    assert json.loads(next(export_lines(run)))["final_answer"] == found


def test_a_run_on_a_problem_without_an_answer_shows_none(alice: User, client_for: Callable[[User | None], Client]) -> None:
    run = answered("Answer: $2$", answer="")
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert "data-answer" not in page
    assert final_answer_of(run) is None
