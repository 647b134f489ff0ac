"""An invalid parameter is rejected by name, never answered with an empty list; every refusal is a problem document."""

import errno
import json
from typing import get_type_hints

import pytest
from django.test import RequestFactory
from pydantic import BaseModel

from apps.accounts.models import User
from apps.config.api.refusals import PARAMETERS
from apps.config.api.urls import api
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
        ("runs", "outcome", "zz"),
        ("runs", "sort", "zz"),
        ("runs", "since", "yesterday"),
        ("runs", "until", "9999-12-31"),
    ],
)
def test_an_invalid_parameter_is_named(path: str, name: str, value: str, ask: Ask, run: Run, alice: User) -> None:
    answer = ask(alice, path, **{name: value})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"][-1] == name


def test_places_and_sentences_have_the_names_of_the_api(ask: Ask, send: Ask, run: Run, alice: User) -> None:
    """`body` and `asked` are names of our parameters, which a program does not know."""
    start = {"problem": "two-squares", "scaffold": "intern_s1_mo"}
    refused = {
        "sede": send(alice, "runs", start | {"sede": 7}),
        "budget.tokens": send(alice, "runs", start | {"budget": {"tokens": 0}}),
        "name": send(alice, f"runs/{run.public_id}/commands"),
        "confidence": ask(alice, "lemmas", confidence="x"),
        "status": ask(alice, "runs", status="zz"),
        "": ask(alice, f"runs/{run.public_id}/fork/here", event=1, lemma="s0.1"),
    }
    for name, answer in refused.items():
        ((_, *place),) = [mistake["loc"] for mistake in answer.json()["errors"]]
        assert ".".join(place) == name
        assert answer.json()["detail"].startswith(f"{name}: " if name else "Send exactly one of event, call and lemma.")


def test_a_whole_body_or_query_has_a_name_that_refusals_leave_out() -> None:
    operations = [one for _, router in api._routers for view in router.path_operations.values() for one in view.operations]
    assert len(operations) > 30
    for operation in operations:
        for name, hint in get_type_hints(operation.view_func).items():
            if name != "return" and isinstance(hint, type) and issubclass(hint, BaseModel):
                assert name in PARAMETERS, f"{operation.view_func.__name__}: {name}"


def test_an_unknown_address_of_the_api_is_a_problem_document(ask: Ask, alice: User) -> None:
    answer = ask(alice, "runs/5")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert "no operation at this address" in answer.json()["detail"]


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
