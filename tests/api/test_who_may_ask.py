"""Tokens and sessions give access to the API; hidden objects return 404."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import ApiToken, User
from apps.runs.models import Run
from tests.api.conftest import Ask

RUN_PATHS = ["runs/{id}", "runs/{id}/events", "runs/{id}/lemmas", "runs/{id}/graph"]


def test_a_response_without_a_token_explains_how_to_send_one(ask: Ask, run: Run) -> None:
    answer = ask(None, "problems")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "Authorization: Bearer" in answer.json()["detail"]


@pytest.mark.parametrize("header", ["Bearer lsc_wrong", "Bearer ", "Basic YTpi", "lsc_wrong"])
def test_a_wrong_token_is_rejected(header: str, run: Run) -> None:
    assert Client().get("/api/v1/problems", headers={"Authorization": header}).status_code == 401


def test_the_token_of_an_inactive_user_is_rejected(bob: User, run: Run) -> None:
    _, text = ApiToken.issue(bob, "notebook")
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert Client().get("/api/v1/runs", headers={"Authorization": f"Bearer {text}"}).status_code == 401


def test_a_session_gives_access_too(client_for: Callable[[User | None], Client], alice: User, run: Run) -> None:
    assert client_for(alice).get(f"/api/v1/runs/{run.public_id}").json()["title"] == run.title


@pytest.mark.parametrize("path", ["runs", *RUN_PATHS])
def test_runs_do_not_exist_for_a_student(path: str, ask: Ask, run: Run, charlie: User) -> None:
    answer = ask(charlie, path.format(id=run.public_id))
    assert answer.status_code == 404
    assert run.title not in answer.content.decode()


@pytest.mark.parametrize("path", RUN_PATHS)
def test_a_coach_reads_runs_and_an_unknown_run_is_not_found(path: str, ask: Ask, run: Run, bob: User) -> None:
    assert ask(bob, path.format(id=run.public_id)).status_code == 200
    unknown = ask(bob, path.format(id="00000000-0000-4000-8000-000000000000"))
    assert unknown.status_code == 404
    assert "no such run" in unknown.json()["detail"]


def test_the_use_of_a_token_is_recorded_at_most_once_a_minute(alice: User, run: Run) -> None:
    token, text = ApiToken.issue(alice, "notebook")
    headers = {"Authorization": f"Bearer {text}"}

    def used() -> object:
        Client().get("/api/v1/runs", headers=headers)
        return ApiToken.objects.get(pk=token.pk).last_used_at

    first = used()
    assert first is not None
    assert used() == first
    ApiToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now() - timedelta(minutes=2))
    later = ApiToken.objects.get(pk=token.pk).last_used_at
    assert used() != later
