"""Idempotency keys: a request that is sent again gets the first answer and changes nothing twice."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import ApiAnswer, ApiToken, User
from apps.problems.models import Problem
from apps.runs.models import Run
from tests.api.conftest import Ask
from tests.runs.test_the_same_thing_asked_twice_at_once import at_once

START = {"problem": "two-squares", "scaffold": "intern_s1_mo", "preset": "quick", "model": "small", "seed": 7}
pytestmark = pytest.mark.usefixtures("models")


def test_the_same_request_with_the_same_key_gets_the_first_answer(send: Ask, problem: Problem, alice: User) -> None:
    first = send(alice, "runs", START, key="a")
    Run.objects.update(status="running")
    again = send(alice, "runs", START, key="a")
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert Run.objects.count() == 1


def test_another_key_or_no_key_starts_another_run(send: Ask, problem: Problem, alice: User) -> None:
    for key in ("a", "b", "", ""):
        send(alice, "runs", START, key=key)
    assert Run.objects.count() == 4


def test_a_key_of_another_request_is_refused(send: Ask, problem: Problem, alice: User) -> None:
    first = send(alice, "runs", START, key="a").json()
    for path, body in (("runs", START | {"seed": 8}), (f"runs/{first['id']}/commands", {"name": "pause"})):
        answer = send(alice, path, body, key="a")
        assert answer.status_code == 409
        assert "Use a new key" in answer.json()["detail"]
    assert Run.objects.count() == 1


def test_keys_of_other_users_do_not_count(send: Ask, problem: Problem, alice: User, bob: User) -> None:
    answers = [send(user, "runs", START, key="a").json() for user in (alice, bob)]
    assert [one["owner"] for one in answers] == ["alice", "bob"]


def test_a_refused_request_may_be_corrected_under_its_key(send: Ask, problem: Problem, alice: User) -> None:
    assert send(alice, "runs", START | {"model": "gpt"}, key="a").status_code == 422
    assert send(alice, "runs", START, key="a").status_code == 201


def test_a_key_is_forgotten_after_a_day(send: Ask, problem: Problem, alice: User) -> None:
    send(alice, "runs", START, key="a")
    ApiAnswer.objects.update(at=timezone.now() - timedelta(hours=23))
    send(alice, "runs", START, key="a")
    assert Run.objects.count() == 1
    ApiAnswer.objects.update(at=timezone.now() - timedelta(hours=25))
    send(alice, "runs", START, key="a")
    assert (Run.objects.count(), ApiAnswer.objects.count()) == (2, 1)


@pytest.mark.django_db(transaction=True)
def test_four_requests_at_once_start_one_run(valkey: object, problem: Problem, alice: User) -> None:
    headers = {"Authorization": f"Bearer {ApiToken.issue(alice, 'test', may_write=True)[1]}", "Idempotency-Key": "a"}

    def ask() -> str:
        return str(Client().post("/api/v1/runs", START, content_type="application/json", headers=headers).json()["id"])

    assert len(set(at_once(ask))) == 1
    assert Run.objects.count() == 1
