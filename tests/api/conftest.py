"""Fixtures: a problem with a run of ten events, and a client of the API."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import ApiToken, User
from apps.problems.models import Problem, ProblemVersion, ReferenceSolution, Topic
from apps.runs.models import Run, RunEvent, RunStatus

EVENTS = 10
Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def _no_request_was_sent_before() -> None:
    """Reset the count of writing requests."""
    cache.clear()


@pytest.fixture
def problem(db: None) -> Problem:
    problem = Problem.objects.create(slug="two-squares", title="Two squares", topic=Topic.NUMBER_THEORY, source="Fermat")
    ProblemVersion.objects.create(problem=problem, number=1, statement="An older text.")
    ProblemVersion.objects.create(
        problem=problem, number=2, statement="Which primes are $x^2+y^2$?", answer="2 and $4k+1$", scheme_text="7 points"
    )
    ReferenceSolution.objects.create(problem=problem, approach="descent", text="By descent.")
    return problem


@pytest.fixture
def run(problem: Problem, alice: User) -> Run:
    run = Run.objects.create(
        title="Two squares", problem_version=problem.current, owner=alice, scaffold="intern_s1_mo", spec={"seed": 7},
        status=RunStatus.FINISHED, last_seq=EVENTS, completion_tokens=1234,
    )  # fmt: skip
    kinds = ["run.started", *["lemma.proposed"] * (EVENTS - 2), "run.finished"]
    RunEvent.objects.bulk_create(
        RunEvent(run=run, seq=seq, key=f"k{seq}", kind=kind, at=timezone.now(), body={"n": seq})
        for seq, kind in enumerate(kinds, 1)
    )
    return run


@pytest.fixture
def ask() -> Ask:
    """GET a path of the API with a token of `user`, or anonymously for None; return the response."""

    def get(user: User | None, path: str, **query: Any) -> Any:
        headers = {"Authorization": f"Bearer {ApiToken.issue(user, 'test')[1]}"} if user else {}
        return Client().get(f"/api/v1/{path}", query, headers=headers)

    return get


@pytest.fixture
def send() -> Ask:
    """Send a body to a path of the API with a writing token of `user`, or with the given `token`; return the response."""

    def sent(user: User, path: str, body: Any = None, *, key: str = "", token: str = "", method: str = "post") -> Any:
        token = token or ApiToken.issue(user, "test", may_write=True)[1]
        headers = {"Authorization": f"Bearer {token}"} | ({"Idempotency-Key": key} if key else {})
        return getattr(Client(), method)(f"/api/v1/{path}", body or {}, content_type="application/json", headers=headers)

    return sent


MODELS = """
[small]
backend = "openai_http"
title = "Small"
model = "small-1"
base_url = "http://127.0.0.1:1/v1"
context_tokens = 8192
"""


@pytest.fixture
def models(settings: Settings, tmp_path: Path) -> None:
    """One enabled model, `small`."""
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
