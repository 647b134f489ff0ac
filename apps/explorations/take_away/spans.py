"""A run as spans of OpenTelemetry in OTLP's JSON: the run, its rounds, its calls, and verdicts as evaluation events.

Names follow the semantic conventions for generative AI. Prompts and answers are not included. An unknown number of tokens and
an unscored verdict have no attribute.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from apps.reasoning.domain.event_base import Kind
from apps.reasoning.domain.verdicts import NO_FAULT
from apps.reasoning.version import VERSION
from apps.runs.models import Run, RunEvent, RunStatus, Step

Json = dict[str, Any]
INTERNAL, CLIENT = 1, 3
OK, ERROR = 1, 2
EVALUATION = "gen_ai.evaluation.result"
_VERDICTS = (Kind.VOTE_CAST, Kind.VERDICT_REACHED, Kind.CANDIDATE_JUDGED)
_FAILED = (RunStatus.FAILED, RunStatus.NEEDS_FORK)


def spans_text(run: Run) -> Iterator[str]:
    """The JSON document in pieces."""
    resource = {"attributes": _attributes({"service.name": "lemmascope", "service.version": VERSION})}
    yield f'{{"resourceSpans":[{{"resource":{json.dumps(resource)},"scopeSpans":[{{"scope":'
    yield f'{json.dumps({"name": "lemmascope.run", "version": VERSION})},"spans":[\n'
    for number, span in enumerate(spans(run)):
        yield (",\n" if number else "") + json.dumps(span, ensure_ascii=False)
    yield "\n]}]}]}\n"


def spans(run: Run) -> Iterator[Json]:
    """The spans of the run, parents first."""
    began, ended = _bounds(run)
    verdicts = _verdicts(run)
    yield _root(run, began, ended, verdicts.pop("", []))
    rounds = _rounds(run, ended)
    for (rollout, number), (start, end) in rounds.items():
        about = {"lemmascope.rollout": rollout, "lemmascope.round": number}
        yield _span(run, _round_key(rollout, number), f"round {number}", _root_key(run), start, end, about)
    for step in run.steps.filter(kind__in=("call", "tool")).order_by("pk").iterator(chunk_size=500):
        place = step.rollout, step.round
        yield _call(run, step, _round_key(*place) if place in rounds else _root_key(run), verdicts.get(step.key, []))


def _bounds(run: Run) -> tuple[datetime, datetime]:
    """The times of the first and the last event."""
    times = list(RunEvent.objects.filter(run=run, seq__in=(1, run.last_seq)).order_by("seq").values_list("at", flat=True))
    began = run.started_at or (times[0] if times else run.created_at)
    return began, max([began, *times, *filter(None, [run.finished_at])])


def _root(run: Run, began: datetime, ended: datetime, events: list[Json]) -> Json:
    outcome = run.outcome or {}
    about = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "lemmascope",
        "gen_ai.agent.name": run.scaffold,
        "gen_ai.conversation.id": str(run.public_id),
        "lemmascope.run.title": run.title,
        "lemmascope.run.status": run.status,
        "lemmascope.run.accepted": outcome.get("accepted"),
        "lemmascope.run.ended_by": outcome.get("ended_by") or None,
        **_usage(run.prompt_tokens, run.completion_tokens),
    }
    error = run.status_reason if run.status in _FAILED else ""
    return _span(run, _root_key(run), f"invoke_agent {run.scaffold}", "", began, ended, about, error=error, events=events)


def _rounds(run: Run, ended: datetime) -> dict[tuple[int, int], tuple[datetime, datetime]]:
    """Beginning and end by rollout and round. A round that has not ended ends with the run."""
    found: dict[tuple[int, int], tuple[datetime, datetime]] = {}
    rows = RunEvent.objects.filter(run=run, kind__in=(Kind.ROUND_BEGAN, Kind.ROUND_ENDED)).order_by("seq")
    for kind, at, body in rows.values_list("kind", "at", "body"):
        place = body["rollout"], body["round"]
        start = found[place][0] if place in found else at
        found[place] = start, ended if kind == Kind.ROUND_BEGAN else max(start, at)
    return found


def _call(run: Run, step: Step, parent: str, events: list[Json]) -> Json:
    is_tool = step.kind == "tool"
    operation, name = ("execute_tool", step.role) if is_tool else ("chat", step.alias)
    about = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "lemmascope",
        "gen_ai.tool.name" if is_tool else "gen_ai.agent.name": step.role,
        "gen_ai.request.model": None if is_tool else step.alias,
        "gen_ai.response.model": None if is_tool else step.model_revision or None,
        "gen_ai.response.finish_reasons": [step.finish_reason] if step.finish_reason else None,
        **_usage(step.prompt_tokens, step.completion_tokens),
        "gen_ai.server.time_to_first_token": step.ttft_s,
        "gen_ai.conversation.id": str(run.public_id),
        "lemmascope.call": step.key,
        "lemmascope.subject": step.subject or None,
        "lemmascope.inherited": True if step.attempt == 0 and not is_tool else None,
        "error.type": "_OTHER" if step.failure else None,
    }
    start = step.recorded_at - timedelta(seconds=max(0.0, step.duration_s))
    kind, times = INTERNAL if is_tool else CLIENT, (start, step.recorded_at)
    return _span(run, step.key, f"{operation} {name}", parent, *times, about, kind=kind, error=step.failure, events=events)


def _usage(prompt: int, completion: int) -> Json:
    """Token counts. Two zeros mean that they are unknown."""
    return {"gen_ai.usage.input_tokens": prompt, "gen_ai.usage.output_tokens": completion} if prompt or completion else {}


def _verdicts(run: Run) -> dict[str, list[Json]]:
    """Evaluation events by call; under "" those of the whole run."""
    calls = set(run.steps.filter(kind="call").values_list("key", flat=True))
    found: dict[str, list[Json]] = defaultdict(list)
    rows = RunEvent.objects.filter(run=run, kind__in=_VERDICTS).order_by("seq").values_list("kind", "at", "body")
    for kind, at, body in rows.iterator(chunk_size=500):
        call = body.get("call", "")
        found[call if call in calls else ""].append(
            {"timeUnixNano": _nanoseconds(at), "name": EVALUATION, "attributes": _attributes(_evaluation(kind, body))}
        )
    return found


def _evaluation(kind: str, body: Json) -> Json:
    if kind == Kind.VERDICT_REACHED:
        name, score, label = "verdict", body["confidence"], body["status"]
    else:
        name = "vote" if kind == Kind.VOTE_CAST else "check"
        passed = _passed(body) if kind == Kind.VOTE_CAST else body["passed"]
        score = None if passed is None else float(passed)
        label = {True: "pass", False: "fail", None: "unscored"}[passed]
    return {
        "gen_ai.evaluation.name": name,
        "gen_ai.evaluation.score.value": None if body.get("unscored") else score,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": body.get("unscored") or body.get("summary") or None,
        "lemmascope.subject": body.get("subject") or body.get("candidate"),
    }


def _passed(vote: Json) -> bool | None:
    return None if vote["unscored"] else vote["first_fault"] == NO_FAULT and not vote["wrong_lemma"]


def _span(
    run: Run, key: str, name: str, parent: str, start: datetime, end: datetime, about: Json, *,
    kind: int = INTERNAL, error: str = "", events: list[Json] | None = None,
) -> Json:  # fmt: skip
    return {
        "traceId": run.public_id.hex,
        "spanId": _id(run, key),
        **({"parentSpanId": _id(run, parent)} if parent else {}),
        "name": name,
        "kind": kind,
        "startTimeUnixNano": _nanoseconds(start),
        "endTimeUnixNano": _nanoseconds(end),
        "attributes": _attributes(about),
        "events": events or [],
        "status": {"code": ERROR, "message": error} if error else {"code": OK},
    }


def _root_key(run: Run) -> str:
    return f"run {run.public_id}"


def _round_key(rollout: int, number: int) -> str:
    return f"round {rollout} {number}"


def _id(run: Run, key: str) -> str:
    return sha256(f"{run.public_id} {key}".encode()).hexdigest()[:16]


def _nanoseconds(at: datetime) -> str:
    """Nanoseconds since 1970, as the text that 64-bit numbers are in this JSON."""
    return str(int(at.timestamp()) * 10**9 + at.microsecond * 1000)


def _attributes(values: Json) -> list[Json]:
    """Attributes in the form of OTLP; None is left out."""
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: Any) -> Json:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    return {"stringValue": str(value)}
