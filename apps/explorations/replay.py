"""The data of a replay: compact events with times, and texts of calls.

The browser folds them (static/js/run/replay*.js) into graph, streams and votes as of any event.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from apps.reasoning.domain.event_base import Kind
from apps.runs.models import Run, RunEvent
from apps.runs.selectors import step_get, step_texts

PAGE = 5_000
#: Fields that a replay reads, by event kind. Other kinds are sent with time and name only.
_FIELDS: dict[str, tuple[str, ...]] = {
    Kind.RUN_FINISHED: ("accepted", "reason"),
    Kind.ROUND_BEGAN: ("rollout", "round"),
    Kind.ROUND_ENDED: ("rollout", "round"),
    Kind.CALL_BEGAN: ("call", "role", "alias", "rollout", "round", "subject", "index"),
    Kind.CALL_RETRIED: ("call", "attempt", "reason"),
    Kind.CALL_ENDED: ("call", "attempt", "ttft_s"),
    Kind.CALL_FAILED: ("call", "attempt", "reason"),
    Kind.OUTPUT_UNREAD: ("call",),
    Kind.LEMMA_PROPOSED: ("lemma", "rollout"),
    Kind.LEMMA_MERGED: ("lemma", "into"),
    Kind.LEMMA_RETIRED: ("lemma",),
    Kind.LEMMA_RESTORED: ("lemma",),
    Kind.VOTE_CAST: ("subject", "index", "of", "first_fault", "wrong_lemma", "unscored"),
    Kind.VERDICT_REACHED: ("subject", "passes", "valid", "total", "confidence", "low", "high", "unscored", "status"),
    Kind.PROOF_DRAFTED: ("proof",),
    Kind.PROOF_SELECTED: ("proof", "accepted"),
    Kind.CANDIDATE_DRAFTED: ("candidate", "made_as"),
    Kind.CANDIDATE_SCORED: ("candidate", "index", "of", "scale", "score", "call"),
    Kind.CANDIDATE_SCORE_DROPPED: ("candidate", "index"),
    Kind.CANDIDATE_JUDGED: ("candidate", "index", "passed", "call"),
    Kind.POOL_KEPT: ("round", "kept"),
    Kind.PAIR_JUDGED: ("round", "first", "second", "better"),
    Kind.PAIR_DECIDED: ("round", "pair", "winner", "by"),
    Kind.STATE_WRITTEN: ("turn",),
    Kind.TURN_TAKEN: ("conversation", "turn", "succeeded"),
    Kind.MEMORY_STORED: ("candidate", "correct", "ayes", "valid"),
    Kind.TOOL_BEGAN: ("call", "job"),
    Kind.TOOL_ENDED: ("call",),
    Kind.TOOL_FAILED: ("call",),
    Kind.FORMULAS_CHECKED: ("subject", "outcome"),
    Kind.CONTROL_REQUESTED: ("command", "name", "by", "args"),
    Kind.CONTROL_APPLIED: ("command", "name"),
}

SmallEvent = tuple[int, int, str, dict[str, Any]]
"""`(seq, milliseconds since the first event, kind, fields)`."""


class ReplayPage(TypedDict):
    """Events after `after`, oldest first; `next` is the `after` of the next page, or 0 on the last page."""

    began: str
    events: list[SmallEvent]
    next: int


def replay_page(run: Run, after: int = 0, limit: int = PAGE) -> ReplayPage:
    """One page of events of `run`."""
    first = RunEvent.objects.filter(run=run).order_by("seq").values_list("at", flat=True).first()
    rows = RunEvent.objects.filter(run=run, seq__gt=after).order_by("seq")[:limit]
    if first is None:
        return {"began": "", "events": [], "next": 0}
    events: list[SmallEvent] = [
        (row.seq, max(0, round((row.at - first).total_seconds() * 1000)), row.kind, small_fields(row.kind, row.body))
        for row in rows
    ]
    more = len(events) == limit and events[-1][0] < run.last_seq
    return {"began": first.isoformat(), "events": events, "next": events[-1][0] if more else 0}


def call_texts(run: Run, key: str) -> dict[str, str] | None:
    """Text and thinking of a recorded call; None if the run has no such call."""
    step = step_get(run, key)
    if step is None or step.kind != "call":
        return None
    _, text, reasoning = step_texts(step)
    return {"text": text, "reasoning": reasoning}


def small_fields(kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a stored event that a replay reads; empty ones are left out."""
    small = {name: body[name] for name in _FIELDS.get(kind, ()) if body.get(name) not in (None, "")}
    if kind == Kind.CALL_ENDED:
        usage = body.get("usage") or {}
        small |= {"tokens": usage.get("prompt", 0) + usage.get("completion", 0), "completion": usage.get("completion", 0)}
    if kind == Kind.TURN_TAKEN and body.get("repairs"):
        small["mended"] = True
    if "args" in small:
        small["args"] = {"lemma": small["args"].get("lemma", "")}
    return small
