"""The page of a call: what was read from it, whatever kind of thing it is, and where the second answer counts."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.models import Run
from tests.explorations.factory import make_exploration
from tests.explorations.test_baselines_of_a_run import best
from tests.explorations.test_conversations_of_a_run import played as conversed
from tests.explorations.test_exchanges import corrected
from tests.explorations.test_solutions_of_a_run import nomos, played
from tests.reasoning.candidates import FAIL, PASS, named

pytestmark = pytest.mark.django_db(transaction=True)
Pages = Callable[[User | None], Client]


@pytest.fixture
def shown(client_for: Pages, alice: User) -> Callable[[Run, str], str]:
    """The text of a call's page, with single spaces and no tags around links."""

    def page(run: Run, key: str) -> str:
        response = client_for(alice).get(reverse("explorations:call", args=[run.public_id, key]))
        assert response.status_code == 200
        return " ".join(response.content.decode().split())

    return page


def link(run: Run, key: str) -> str:
    return reverse("explorations:call", args=[run.public_id, key])


def test_a_solver_shows_the_solution_and_a_verifier_its_decision(shown: Callable[[Run, str], str]) -> None:
    run = corrected(check_1=FAIL, check_2=PASS, check_3=PASS)
    solver = shown(run, run.events.get(body__candidate="c1.1", kind="candidate.drafted").body["call"])
    assert f'{reverse("explorations:run_detail", args=[run.public_id])}#c1.1">Solution c1.1</a>: 2 steps' in solver
    check = shown(run, "check/1")
    assert "Decision on c1.1</a>" in check
    assert "fail, 1 issue" in check
    for page in (solver, check):
        assert "No results were read" not in page
        assert "No lemma, proof or vote" not in page


def corrected_again(second: str) -> Run:
    def said(request: GenerationRequest) -> str:
        if request.key.startswith("check/1"):
            return second if request.key.endswith("/again") else "Hm."
        return PASS if request.key.startswith("check/") else named(request)

    return played("solver_verifier_corrector", "quick", said)


def test_an_answer_that_was_asked_for_again_leads_to_what_was_read_of_the_second(shown: Callable[[Run, str], str]) -> None:
    run = corrected_again(PASS)
    first = shown(run, "check/1")
    assert "This answer could not be read:" in first
    assert f'It was requested again: <a href="{link(run, "check/1/again")}">second call</a>.' in first
    assert "The second answer was read and counts: the decision on c1.1." in first
    assert "Decision on c1.1</a>: " in first
    assert "It does not count" not in first
    assert "No results were read" not in first
    second = shown(run, "check/1/again")
    assert "This call repeats the request for the decision on c1.1." in second
    assert f'<a href="{link(run, "check/1")}">The first answer</a> could not be read:' in second
    assert '<span class="badge badge--good">pass</span>' in second


def test_only_two_answers_that_stayed_unread_count_for_nothing(shown: Callable[[Run, str], str]) -> None:
    run = corrected_again("Hm, again.")
    first = shown(run, "check/1")
    assert "The second answer could not be read either:" in first
    assert "It does not count." in first
    second = shown(run, "check/1/again")
    assert "This answer could not be read:" in second
    assert "This call repeats the request for the decision on c1.1." in second
    assert "It does not count." in second


def test_scores_groups_and_pairs_are_shown(shown: Callable[[Run, str], str]) -> None:
    run = played("nomos", "quick", nomos)
    assert "Score of c1.2</a>" in shown(run, "mark/c1.2")
    assert "7 of 7" in shown(run, "mark/c1.2")
    grouped = run.events.get(kind="pool.grouped").body["call"]
    assert "2 groups; most likely right: c1." in shown(run, grouped)
    pair = run.events.filter(kind="pair.judged").first()
    assert pair is not None
    assert f"Better of {pair.body['first']} and {pair.body['second']}</a>: {pair.body['better']}" in shown(
        run, pair.body["call"]
    )


def test_the_points_of_a_grader_are_shown(shown: Callable[[Run, str], str]) -> None:
    assert "3 of 7" in shown(played("best_of", "quick", best), "grade/c1.1/grade")


def test_lemmas_and_votes_are_shown_and_a_reasoner_without_a_claim_says_who_reads_it(
    shown: Callable[[Run, str], str], alice: User
) -> None:
    run = make_exploration(alice)
    assert "Lemma 1" in shown(run, "s0/r1/summarise")
    reasoner = shown(run, "s0/r1/reason")
    assert "No results were read from this call. The summarizer reads the lemmas from a reasoner’s text." in reasoner


def test_every_call_of_every_kind_that_an_event_names_shows_something(shown: Callable[[Run, str], str]) -> None:
    kinds = ("candidate.", "pair.judged", "pool.grouped", "turn.taken", "state.written")
    for run in (played("nomos", "quick", nomos), played("best_of", "quick", best), conversed()):
        named_calls = {event.body["call"] for event in run.events.all() if event.kind.startswith(kinds)}
        for key in named_calls:
            assert "No results were read" not in shown(run, key), key
