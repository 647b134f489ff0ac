"""An invalid parameter is rejected by name, never answered with an empty list; every refusal is a problem document."""

import errno
import json

import pytest
from django.test import RequestFactory

from apps.accounts.models import User
from apps.config.errors import server_error
from apps.runs.models import Run, RunStatus
from tests.api.conftest import Ask

NUL = "a\0b"


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [
        ("problems", "topic", "zz"),
        ("problems", "topic", NUL),
        ("problems", "q", NUL),
        ("problems", "page", "x"),
        ("problems", "page", str(10**16)),
        ("runs", "page", "0"),
        ("runs", "status", "zz"),
        ("runs", "status", NUL),
        ("runs", "scaffold", "zz"),
        ("runs", "scaffold", NUL),
        ("runs", "topic", "Z"),
        ("runs", "q", NUL),
    ],
)
def test_an_invalid_parameter_is_named(path: str, name: str, value: str, ask: Ask, run: Run, alice: User) -> None:
    answer = ask(alice, path, **{name: value})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"][-1] == name


def test_a_kind_or_a_slug_with_nul_is_rejected(ask: Ask, run: Run, alice: User) -> None:
    assert ask(alice, f"runs/{run.public_id}/events", kind=[NUL]).status_code == 422
    assert ask(alice, "problems/a%00b").status_code == 422


def test_a_huge_event_number_is_rejected(ask: Ask, run: Run, alice: User) -> None:
    assert ask(alice, f"runs/{run.public_id}/events", since="9" * 400).status_code == 422


def test_a_scaffold_of_old_runs_is_accepted(ask: Ask, run: Run, alice: User) -> None:
    Run.objects.filter(pk=run.pk).update(scaffold="an_older_one")
    assert ask(alice, "runs", scaffold="an_older_one").json()["total"] == 1


@pytest.mark.parametrize("query", [{"status": ""}, {"topic": ""}, {"scaffold": ""}, {"status": "finished"}, {"topic": "n"}])
def test_a_valid_or_empty_parameter_is_accepted(query: dict[str, str], ask: Ask, run: Run, alice: User) -> None:
    assert ask(alice, "runs", **query).json()["total"] == 1


@pytest.mark.parametrize("status", RunStatus.values)
def test_every_status_is_a_valid_filter(status: str, ask: Ask, run: Run, alice: User) -> None:
    Run.objects.filter(pk=run.pk).update(status=status)
    assert ask(alice, "runs", status=status).json()["total"] == 1


@pytest.mark.parametrize(("error", "status"), [(OSError(errno.ENOSPC, "full"), 503), (KeyError("x"), 500)])
def test_a_failure_of_the_server_is_a_problem_document_too(error: Exception, status: int, rf: RequestFactory) -> None:
    try:
        raise error
    except Exception:
        answer = server_error(rf.post("/api/v1/runs"))
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json")
    problem = json.loads(answer.content)
    assert (problem["status"], problem["title"] != "", problem["detail"] != "") == (status, True, True)
    assert ("Retry-After" in answer.headers) == (status == 503)
