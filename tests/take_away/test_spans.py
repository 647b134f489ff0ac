"""Spans for OpenTelemetry: the run, its rounds, its calls, and verdicts as events."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.models import User
from apps.explorations.take_away.spans import spans, spans_text
from apps.runs.models import Run
from tests.take_away.reading import read_by

pytestmark = pytest.mark.django_db


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    """Attributes by name."""
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


def by_name(run: Run) -> dict[str, dict[str, Any]]:
    """Spans by their call, or by their name."""
    return {str(attributes(span).get("lemmascope.call", span["name"])): span for span in spans(run)}


def test_calls_are_in_rounds_and_rounds_in_the_run(run: Run) -> None:
    found = list(spans(run))
    ids = {span["spanId"]: span for span in found}
    assert len(ids) == len(found) == 1 + 6 + run.steps.count()
    root, call = found[0], by_name(run)["s0/r1/reason"]
    assert "parentSpanId" not in root
    around = ids[call["parentSpanId"]]
    assert around["name"] == "round 1"
    assert ids[around["parentSpanId"]] is root
    assert {span["traceId"] for span in found} == {run.public_id.hex}


def test_a_call_has_the_names_of_the_conventions(run: Run) -> None:
    call = attributes(by_name(run)["s0/r1/reason"])
    assert call["gen_ai.operation.name"] == "chat"
    assert call["gen_ai.request.model"] == "small"
    assert call["gen_ai.agent.name"] == "reasoner"
    assert (call["gen_ai.usage.input_tokens"], call["gen_ai.usage.output_tokens"]) == ("50", "1234")
    assert call["gen_ai.response.finish_reasons"] == {"values": [{"stringValue": "stop"}]}


def test_unknown_tokens_have_no_attribute_and_a_failed_call_is_an_error(run: Run) -> None:
    run.steps.filter(key="s0/r1/reason").update(prompt_tokens=0, completion_tokens=0, failure="The server did not answer.")
    span = by_name(run)["s0/r1/reason"]
    assert not [name for name in attributes(span) if name.startswith("gen_ai.usage")]
    assert span["status"] == {"code": 2, "message": "The server did not answer."}


def test_a_vote_is_an_evaluation_of_its_call_and_an_unread_one_has_no_score(run: Run) -> None:
    (event,) = by_name(run)["s0/r2/verify/s0.7/3"]["events"]
    vote = {one["key"]: next(iter(one["value"].values())) for one in event["attributes"]}
    assert event["name"] == "gen_ai.evaluation.result"
    assert (vote["gen_ai.evaluation.score.value"], vote["gen_ai.evaluation.score.label"]) == (0.0, "fail")
    (event,) = by_name(run)["s0/r1/verify/s0.3/4"]["events"]
    unread = {one["key"]: next(iter(one["value"].values())) for one in event["attributes"]}
    assert unread["gen_ai.evaluation.score.label"] == "unscored"
    assert "gen_ai.evaluation.score.value" not in unread


def test_the_verdicts_on_lemmas_and_proofs_are_events_of_the_run(run: Run) -> None:
    events = next(spans(run))["events"]
    assert len(events) == 15
    assert {event["name"] for event in events} == {"gen_ai.evaluation.result"}


def test_prompts_and_answers_are_not_included(run: Run) -> None:
    text = "".join(spans_text(run))
    assert "Text of s0/r1/reason" not in text
    assert "You work on a problem" not in text


def test_a_researcher_downloads_the_spans(run: Run, alice: User, client_for: Callable[[User | None], Client]) -> None:
    answer = client_for(alice).get(reverse("explorations:take_away", args=[run.public_id, "spans"]))
    assert answer["Content-Type"] == "application/json"
    data = json.loads(answer.getvalue())
    assert data["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["name"] == "invoke_agent intern_s1_mo"


@pytest.mark.readers
def test_opentelemetry_reads_every_span(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "spans.json"
    path.write_text("".join(spans_text(run)))
    found = read_by("spans_reading.py", path)
    assert [span["id"] for span in found] == [span["spanId"] for span in spans(run)]
    assert {span["trace"] for span in found} == {16}
    assert all(span["seconds"] >= 0 for span in found)
    assert {span["kind"] for span in found} == {1, 3}
    assert sum(len(span["events"]) for span in found) == sum(len(span["events"]) for span in spans(run))
