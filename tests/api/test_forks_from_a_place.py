"""Forks from an event or a lemma over the API: what they take over, their start, and the refusals of the form."""

from typing import Any

import pytest

from apps.accounts import throttle
from apps.accounts.models import Role, User
from apps.explorations.services import worked_example_start
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.models import Run
from tests.api.conftest import Ask
from tests.explorations.forking import driven, make_parent
from tests.explorations.test_start_form import MODELS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _models(settings: Any, tmp_path: Any) -> None:
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)


@pytest.fixture
def ada() -> User:
    return User.objects.create(username="ada", role=Role.RESEARCHER)


@pytest.fixture
def here(ada: User) -> str:
    return f"runs/{make_parent().public_id}/fork/here"


def test_the_offers_say_which_calls_are_taken_over(here: str, ask: Ask, ada: User) -> None:
    found = ask(ada, here, lemma="s0.1").json()
    assert (found["place"], found["refusal"], found["statement"], found["proof"]) == ("lemma s0.1", "", "Base.", "p")
    changes = {one["change"]: one for one in found["changes"]}
    assert list(changes) == ["without", "corrected", "hint", "unchanged"]
    without = changes["without"]
    assert (without["refusal"], without["begins"]) == ("", "round 1, before the votes on its lemmas")
    taken = [(one["round"], one["role"], one["calls"]) for one in without["taken_over"]]
    assert taken == [(1, "Reason", 1), (1, "Summarise", 1)]
    again = sum(one["calls"] for one in without["made_again"])
    assert again == Run.objects.get().calls - 2


def test_an_event_offers_no_change_of_a_lemma(here: str, ask: Ask, ada: User) -> None:
    seq = Run.objects.get().events.get(key="s0/r1/verify/s0.1/1/vote").seq
    changes = {one["change"]: one["refusal"] for one in ask(ada, here, event=seq).json()["changes"]}
    assert changes["without"] == "Open the lemma, and fork from its panel."
    assert changes["hint"] == ""


def test_a_fork_without_a_lemma_takes_the_earlier_calls_over(here: str, send: Ask, ada: User) -> None:
    answer = send(ada, here, {"lemma": "s0.1", "change": "without"})
    assert (answer.status_code, answer.json()["owner"]) == (201, "ada")
    fork = Run.objects.get(public_id=answer.json()["id"])
    assert str(fork.forked_from.public_id) == answer.json()["forked_from"]  # type: ignore[union-attr]
    model = driven(fork)
    assert fork.inherited_calls >= 2
    assert not any("Base." in prompt for prompt in model.prompts.values())


def test_a_fork_has_a_corrected_lemma_or_a_hint(here: str, send: Ask, ada: User) -> None:
    sent: dict[str, Any] = {"lemma": "s0.1", "change": "corrected", "statement": "Sound base.", "accepted": True}
    for body, args in (
        (sent, {"lemma": "s0.1", "statement": "Sound base.", "proof": "", "accepted": True}),
        ({"call": "s0/r2/reason", "change": "hint", "text": "Reverse the sum."}, {"text": "Reverse the sum."}),
    ):
        fork = Run.objects.get(public_id=send(ada, here, body).json()["id"])
        branch = RunSpec.model_validate(fork.spec).branch
        assert branch is not None
        assert [one.args for one in branch.commands] == [args]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"change": "without"}, "Send exactly one of event, call and lemma."),
        ({"change": "without", "lemma": "s0.1", "event": 3}, "Send exactly one of event, call and lemma."),
        ({"change": "without", "lemma": "s9.9"}, "change: This run has no lemma s9.9."),
        ({"change": "without", "lemma": "s0.5"}, "change: It is merged into lemma s0.3."),
        ({"change": "without", "event": 1}, "change: This event was recorded before the first call"),
        ({"change": "hint", "call": "s0/r2/reason"}, "text: Write the hint."),
        ({"change": "corrected", "lemma": "s0.1"}, "statement: Write the corrected statement."),
        ({"change": "corrected", "lemma": "s0.1", "statement": "S."}, "proof: Write a proof for the votes, or accept"),
        ({"change": "other", "lemma": "s0.1"}, "change: Input should be"),
        ({"change": "unchanged", "event": 99_999}, "change: This run has no event 99999; its last is"),
        ({"change": "unchanged", "call": "nope"}, "change: This run has no call nope."),
        ({"change": "without", "lemma": "s0.1", "statement": "S."}, "A fork with the change without does not use statement."),
    ],
)
def test_what_the_form_refuses_is_refused(body: dict[str, Any], words: str, here: str, send: Ask, ada: User) -> None:
    answer = send(ada, here, body)
    assert (answer.status_code, answer.json()["detail"].startswith(words)) == (422, True), answer.json()["detail"]
    assert Run.objects.count() == 1


def test_a_run_without_calls_of_its_own_offers_no_fork(ask: Ask, send: Ask, ada: User) -> None:
    run = worked_example_start(user=ada)
    found = ask(ada, f"runs/{run.public_id}/fork/here", event=1).json()
    assert (found["changes"], "The worked example cannot be forked" in found["refusal"]) == ([], True)
    refused = send(ada, f"runs/{run.public_id}/fork/here", {"event": 1, "change": "unchanged"})
    assert (refused.status_code, "The worked example cannot be forked" in refused.json()["detail"]) == (422, True)


def test_a_student_forks_nothing(here: str, ask: Ask, send: Ask) -> None:
    student = User.objects.create(username="sam", role=Role.STUDENT)
    assert ask(student, here, lemma="s0.1").status_code == 404
    assert send(student, here, {"lemma": "s0.1", "change": "without"}).status_code == 404


def test_the_same_request_forks_once_and_too_many_are_refused(
    here: str, send: Ask, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "WRITES", 2)
    body = {"lemma": "s0.1", "change": "without"}
    first, again = (send(ada, here, body, key="a").json()["id"] for _ in range(2))
    assert first == again
    assert Run.objects.count() == 2
    assert send(ada, here, body).status_code == 429
