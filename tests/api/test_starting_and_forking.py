"""Runs started and forked over the API: the rules of the start page, and refusals that say what to do."""

import uuid
from typing import Any

import pytest
from django.test import Client

from apps.accounts import throttle
from apps.accounts.models import ApiToken, User
from apps.problems.models import Problem
from apps.runs.models import Run
from tests.api.conftest import Ask
from tests.explorations.factory import make_exploration

START = {"problem": "two-squares", "scaffold": "intern_s1_mo", "preset": "quick", "model": "small"}
pytestmark = pytest.mark.usefixtures("models")


def test_a_run_is_started_with_what_was_sent(send: Ask, problem: Problem, alice: User) -> None:
    answer = send(alice, "runs", START | {"seed": 7, "budget": {"tokens": 5000}, "temperature": 0.5, "params": {"rounds": 2}})
    assert answer.status_code == 201
    run = Run.objects.get(public_id=answer.json()["id"])
    assert (run.owner, run.status, run.budget["tokens"], run.spec["seed"]) == (alice, "queued", 5000, 7)
    assert (answer.json()["problem"], answer.json()["problem_version"]) == ("two-squares", 2)
    assert {role["sampling"]["temperature"] for role in run.spec["roles"].values()} == {0.5}
    assert run.spec["params"]["rounds"] == 2


def test_a_run_without_a_preset_has_the_first_one(send: Ask, problem: Problem, alice: User) -> None:
    body = {name: value for name, value in START.items() if name != "preset"} | {"budget": {"calls": 10}}
    assert send(alice, "runs", body).json()["preset"] != ""


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"scaffold": "dance"}, "scaffold", "Unknown scaffold dance. Choose one of"),
        ({"preset": "dance"}, "preset", "has no preset dance"),
        ({"model": "gpt"}, "model", "No enabled model is named gpt. Choose one of small"),
        ({"model": ""}, "model", "Choose a model"),
        ({"roles": {"reasoner": "gpt"}}, "roles.reasoner", "No enabled model is named gpt"),
        ({"params": {"rounds": -1}}, "params.rounds", ""),
        ({"params": {"rounds": "many"}}, "params.rounds", ""),
        ({"seed": -1}, "seed", "greater than or equal to 0"),
        ({"budget": {"tokens": 0}}, "tokens", "greater than or equal to 1"),
        ({"temperature": 9}, "temperature", "less than or equal to 2"),
        ({"sede": 7}, "sede", "Remove it, or correct its name"),
        ({"params": {"note": "a\0b"}}, "body", "NUL character"),
    ],
)
def test_a_wrong_field_is_named_with_what_to_do(
    changes: dict[str, Any], field: str, words: str, send: Ask, problem: Problem, alice: User
) -> None:
    answer = send(alice, "runs", START | changes)
    assert answer.status_code == 422
    assert answer.headers["Content-Type"] == "application/problem+json"
    (mistake,) = answer.json()["errors"]
    assert mistake["loc"][-1] == field
    assert words in mistake["msg"]
    assert mistake["msg"][1:].rstrip(".") in answer.json()["detail"]
    assert not Run.objects.exists()


def test_a_large_run_needs_a_confirmation(send: Ask, problem: Problem, alice: User) -> None:
    large = START | {"params": {"rollouts": 512, "rounds": 8}}
    refused = send(alice, "runs", large)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["loc"][-1] == "confirm"
    assert "calls. Send true to start it, or limit the calls" in refused.json()["detail"]
    assert send(alice, "runs", large | {"budget": {"calls": 100}}).status_code == 201
    assert send(alice, "runs", large | {"confirm": True}).status_code == 201


def test_a_token_that_may_only_read_starts_nothing(send: Ask, problem: Problem, alice: User) -> None:
    _, token = ApiToken.issue(alice, "dashboard")
    answer = send(alice, "runs", START, token=token)
    assert answer.status_code == 403
    assert "“dashboard” may only read" in answer.json()["detail"]
    assert not Run.objects.exists()


def test_without_a_token_nothing_is_started_also_with_a_session(problem: Problem, alice: User) -> None:
    client = Client()
    client.force_login(alice)
    for one in (Client(), client):
        answer = one.post("/api/v1/runs", START, content_type="application/json")
        assert (answer.status_code, answer.json()["status"]) == (401, 401)
    assert not Run.objects.exists()


def test_a_student_starts_nothing(send: Ask, problem: Problem, charlie: User) -> None:
    answer = send(charlie, "runs", START)
    assert (answer.status_code, answer.json()["detail"]) == (403, "Only coaches and researchers may start explorations.")


def test_a_problem_that_the_user_may_not_see_is_not_found(send: Ask, problem: Problem, alice: User) -> None:
    assert send(alice, "runs", START | {"problem": "hidden"}).status_code == 404


def test_too_many_writing_requests_are_refused_with_the_time_to_wait(
    send: Ask, problem: Problem, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "WRITES", 2)
    answers = [send(alice, "runs", START).status_code for _ in range(2)]
    refused = send(alice, "runs", START)
    assert (answers, refused.status_code) == ([201, 201], 429)
    assert 0 < int(refused.headers["Retry-After"]) <= throttle.WINDOW_S + 1
    assert "Nothing was changed." in refused.json()["detail"]
    assert send(bob, "runs", START).status_code == 201


def test_a_fork_has_the_plan_of_its_run_but_for_what_was_sent(send: Ask, problem: Problem, alice: User, bob: User) -> None:
    first = send(alice, "runs", START | {"seed": 7, "params": {"rounds": 2}}).json()
    answer = send(bob, f"runs/{first['id']}/fork", {"temperature": 0.3, "budget": {"calls": 9}})
    assert answer.status_code == 201
    fork = answer.json()
    assert (fork["forked_from"], fork["owner"], fork["spec"]["seed"]) == (first["id"], "bob", 7)
    assert (fork["spec"]["params"]["rounds"], fork["budget"]["calls"]) == (2, 9)
    assert {role["sampling"]["temperature"] for role in fork["spec"]["roles"].values()} == {0.3}


def test_the_worked_example_an_imported_and_an_unknown_run_cannot_be_forked(send: Ask, alice: User) -> None:
    run = make_exploration(alice)
    for changes in ({"is_authored": True}, {"is_authored": False, "preset": "imported"}):
        Run.objects.filter(pk=run.pk).update(**changes)
        answer = send(alice, f"runs/{run.public_id}/fork")
        assert answer.status_code == 404
        assert "Start a run on its problem instead." in answer.json()["detail"]
    assert send(alice, f"runs/{uuid.uuid4()}/fork").status_code == 404


def test_a_run_whose_plan_cannot_be_read_cannot_be_forked(send: Ask, alice: User) -> None:
    run = make_exploration(alice, spec={"seed": 7})
    answer = send(alice, f"runs/{run.public_id}/fork")
    assert (answer.status_code, "Start a new run." in answer.json()["detail"]) == (422, True)
