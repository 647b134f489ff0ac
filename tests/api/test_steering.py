"""Commands to runs and verdicts on lemmas over the API."""

import uuid
from typing import Any

import pytest

from apps.accounts.models import User
from apps.lemmas.models import Lemma
from apps.runs.models import Run, RunCommand, RunStatus
from tests.api.conftest import Ask
from tests.explorations.factory import make_exploration


@pytest.fixture
def live(alice: User) -> Run:
    return make_exploration(alice, RunStatus.RUNNING)


@pytest.mark.parametrize(
    "body",
    [
        {"name": "pause"},
        {"name": "cancel"},
        {"name": "hint", "text": "Look at residues modulo 16."},
        {"name": "inject_lemma", "statement": "$-1$ is a square.", "proof": "By Wilson."},
        {"name": "extend_budget", "tokens": 1000},
    ],
)
def test_a_command_is_recorded(body: dict[str, Any], send: Ask, live: Run, alice: User) -> None:
    answer = send(alice, f"runs/{live.public_id}/commands", body)
    assert answer.status_code == 202
    asked = RunCommand.objects.get()
    args = {name: value for name, value in body.items() if name != "name"}
    assert (asked.name, asked.by, asked.args) == (body["name"], alice, args)
    assert (answer.json()["id"], answer.json()["state"]) == (str(asked.command_id), "pending")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"name": "dance"}, "name"),
        ({"name": "hint"}, "Hint needs a text."),
        ({"name": "hint", "text": "  "}, "Hint needs a text."),
        ({"name": "extend_budget", "seconds": 5}, "no limit of seconds"),
        ({"name": "hint", "text": "x" * 20_001}, "text"),
    ],
)
def test_a_command_without_what_it_needs_is_refused(
    body: dict[str, Any], words: str, send: Ask, live: Run, alice: User
) -> None:
    answer = send(alice, f"runs/{live.public_id}/commands", body)
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert not RunCommand.objects.exists()


def test_a_run_that_has_ended_accepts_no_command(send: Ask, run: Run, alice: User) -> None:
    answer = send(alice, f"runs/{run.public_id}/commands", {"name": "pause"})
    assert answer.status_code == 422
    assert "Fork it to continue." in answer.json()["detail"]


@pytest.mark.parametrize("path", ["commands", "resume", "lemmas/s0.1/verdict"])
def test_a_coach_may_watch_but_not_steer_the_run_of_another(path: str, send: Ask, live: Run, bob: User) -> None:
    body = {"commands": {"name": "pause"}, "resume": {}}.get(path, {"accepted": True})
    answer = send(bob, f"runs/{live.public_id}/{path}", body)
    assert (answer.status_code, answer.json()["detail"]) == (403, "Only the owner of a run or a researcher may steer it.")
    assert not RunCommand.objects.exists()


@pytest.mark.parametrize("path", ["commands", "resume", "lemmas/s0.1/verdict", "fork"])
def test_runs_do_not_exist_for_a_student_who_steers(path: str, send: Ask, live: Run, charlie: User) -> None:
    body = {"commands": {"name": "pause"}, "resume": {}, "fork": {}}.get(path, {"accepted": True})
    answer = send(charlie, f"runs/{live.public_id}/{path}", body)
    assert answer.status_code == (403 if path == "fork" else 404)
    assert live.title not in answer.content.decode()


@pytest.mark.parametrize(("accepted", "name"), [(True, "accept_lemma"), (False, "reject_lemma")])
def test_a_verdict_on_a_lemma_is_a_command(accepted: bool, name: str, send: Ask, live: Run, alice: User) -> None:
    lemma = Lemma.objects.filter(run=live).first()
    assert lemma is not None
    body = {"accepted": accepted, "reason": "Seen in class."}
    assert send(alice, f"runs/{live.public_id}/lemmas/{lemma.lemma}/verdict", body).status_code == 202
    asked = RunCommand.objects.get()
    assert (asked.name, asked.args) == (name, {"lemma": lemma.lemma, "reason": "Seen in class."})


def test_a_verdict_on_an_unknown_lemma_is_refused(send: Ask, live: Run, alice: User) -> None:
    answer = send(alice, f"runs/{live.public_id}/lemmas/s9.9/verdict", {"accepted": True})
    assert answer.status_code == 404
    assert "no such lemma" in answer.json()["detail"]


def test_a_failed_run_is_queued_again_and_others_are_not(send: Ask, live: Run, run: Run, alice: User) -> None:
    Run.objects.filter(pk=live.pk).update(status=RunStatus.FAILED)
    assert send(alice, f"runs/{live.public_id}/resume").json()["status"] == "queued"
    refused = send(alice, f"runs/{run.public_id}/resume")
    assert refused.status_code == 422
    assert "Only a failed run can be resumed" in refused.json()["detail"]
    assert send(alice, f"runs/{uuid.uuid4()}/resume").status_code == 404
