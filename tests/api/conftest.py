"""Fixtures: a problem with a run of ten events, and a client of the API."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.models import ApiToken, User
from apps.problems.models import Problem, ProblemVersion, ReferenceSolution, Topic
from apps.runs.models import Run, RunEvent, RunStatus

EVENTS = 10
Ask = Callable[..., Any]


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
