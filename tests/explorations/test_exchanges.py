"""Check and correct as a conversation: who spoke in which order, how long the streaks were, what could not be read."""

import uuid
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.candidates.exchange import Exchange, exchange
from apps.explorations.candidates.solutions import solutions
from apps.reasoning.domain.control import ControlApplied, ControlRequested
from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.models import Run
from tests.explorations.factory import add_event
from tests.explorations.test_solutions_of_a_run import played
from tests.importing.files import check, imported, solver_log
from tests.reasoning.candidates import FAIL, PASS, better, decision, named

pytestmark = pytest.mark.django_db(transaction=True)


def conversation(run: Run) -> Exchange:
    found = exchange(run, solutions(run))
    assert found is not None
    return found


def corrected(**answers: str) -> Run:
    table = {name.replace("_", "/"): text for name, text in answers.items()}

    def said(request: GenerationRequest) -> str:
        return table.get(request.key.removesuffix("/again")) or named(request)

    return played("solver_verifier_corrector", "quick", said)


def test_turns_stand_in_the_order_in_which_they_were_taken() -> None:
    found = conversation(corrected(check_1=FAIL, check_2=PASS, check_3=PASS))
    assert [(turn.speaker, turn.who, turn.about) for turn in found.turns] == [
        ("writer", "Solver", "c1.1"),
        ("verifier", "Verifier of the solver", "c1.1"),
        ("writer", "Corrector of the solver", "c2.1"),
        ("verifier", "Verifier of corrections", "c2.1"),
        ("verifier", "Verifier of corrections", "c2.1"),
        ("end", "The end", ""),
    ]
    assert found.turns[2].before == found.turns[0].solution.text if found.turns[0].solution else False
    assert found.turns[-1].good


def test_streaks_show_their_required_length_and_a_failure_restarts_them() -> None:
    found = conversation(corrected(check_1=PASS, check_2=FAIL, check_3=PASS, check_4=PASS))
    assert [turn.streak.words for turn in found.checks if turn.streak] == [
        "1 pass in a row of 2", "1 failure in a row of 4", "1 pass in a row of 2", "2 passes in a row of 2"
    ]  # fmt: skip
    assert [turn.mark for turn in found.checks] == ["pass", "fault", "pass", "pass"]
    assert found.checks[2].streak is not None
    assert found.checks[2].streak.places == [True, False]


def test_what_cannot_be_read_is_a_turn_without_a_streak() -> None:
    found = conversation(corrected(check_1=FAIL, correct_1="I like turtles.", check_2="Hm.", check_3=PASS, check_4=PASS))
    unread = [turn for turn in found.turns if turn.unread]
    assert [(turn.who, turn.solution) for turn in unread] == [("Corrector of the solver", None)]
    assert found.checks[1].streak is None
    assert found.checks[1].mark == "unread"


def test_a_check_that_cannot_be_read_interrupts_the_streak_and_is_counted() -> None:
    found = conversation(corrected(check_1=PASS, check_2="Hm.", check_3=PASS, check_4=PASS))
    assert [turn.streak.words if turn.streak else "" for turn in found.checks] == [
        "1 pass in a row of 2", "", "1 pass in a row of 2", "2 passes in a row of 2"
    ]  # fmt: skip
    assert [turn.interrupted.words if turn.interrupted else "" for turn in found.checks] == ["", "1 pass in a row of 2", "", ""]
    assert found.tally == "4 checks: 3 passed, 0 failed, 1 could not be read"


def test_a_run_by_older_rules_is_shown_as_it_went_and_says_so(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = corrected(check_1=PASS, check_2="Hm.", check_3=PASS, check_4=PASS)
    for event in run.events.filter(kind="candidate.judged"):
        event.body.pop("overruled")
        event.body["passes"] += event.body["index"] in (2, 3)
        event.save(update_fields=["body"])
    found = conversation(run)
    assert found.by_older_rules
    assert [turn.interrupted for turn in found.checks] == [None] * 4
    assert [turn.streak.words for turn in found.checks if turn.streak][1] == "2 passes in a row of 2"
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert "This run was checked by older rules" in page
    assert "Fork the run to have it checked again." in page


def test_a_hint_is_a_turn_of_the_person_who_gave_it_once_it_was_taken() -> None:
    run = corrected(check_1=PASS, check_2=PASS)
    command = str(uuid.uuid4())
    add_event(run, "asked", ControlRequested(command=command, name="hint", by="alice", args={"text": "Look at parity."}))
    assert not [turn for turn in conversation(run).turns if turn.speaker == "person"]
    add_event(run, "taken", ControlApplied(command=command, name="hint", point="check/1"))
    assert [(turn.who, turn.words) for turn in conversation(run).turns if turn.speaker == "person"] == [
        ("alice", "Look at parity.")
    ]


def test_an_unread_decision_of_an_imported_log_interrupts_its_streak_too() -> None:
    found = conversation(imported(solver_log(*check("yes"), *check("perhaps"), *check("yes"))))
    assert [turn.streak.count if turn.streak else 0 for turn in found.checks] == [1, 0, 1]
    assert found.checks[1].interrupted is not None


def test_an_imported_log_is_shown_without_limits_that_it_does_not_state() -> None:
    found = conversation(imported(solver_log(*check("yes"))))
    assert [turn.speaker for turn in found.turns][:2] == ["writer", "writer"]
    assert [turn.streak.of for turn in found.checks if turn.streak] == [found.accept]


def test_other_scaffolds_are_no_conversation() -> None:
    run = played("rsa", "quick", lambda request: better("B") if request.role == "judge" else named(request))
    assert exchange(run, solutions(run)) is None


def test_the_page_says_what_an_unread_check_interrupts_and_why_a_pass_is_a_fail(
    client_for: Callable[[User | None], Client], alice: User
) -> None:
    run = corrected(check_1=PASS, check_2="Hm.", check_3=decision("pass", ("gap", "Why?")), check_4=PASS, check_5=PASS)
    page = client_for(alice).get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    assert '<span class="badge badge--warn">not read: there is no decision</span>' in page
    assert "It interrupts a streak: 1 pass in a row of 2." in page
    assert "The verifier wrote “pass” next to a critical error or gap; it counts as a fail." in page
    assert "older rules" not in page
    assert 'data-count="checks">5 checks: 3 passed, 1 failed, 1 could not be read</p>' in page


def test_the_page_and_its_part_tell_it_instead_of_rounds(client_for: Callable[[User | None], Client], alice: User) -> None:
    run = corrected(check_1=FAIL, check_2=PASS, check_3=PASS)
    client = client_for(alice)
    page = client.get(reverse("explorations:run_detail", args=[run.public_id])).content.decode()
    part = client.get(
        reverse("explorations:run_solutions", args=[run.public_id]), headers={"HX-Request": "true"}
    ).content.decode()
    for text in (page, part):
        assert ">Conversation</h2>" in text
        assert "It does not follow." in text
        assert "What changed since c1.1" in text
        assert "<h2>Round 1</h2>" not in text
