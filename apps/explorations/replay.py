"""The data of a replay: compact events with times, and texts of calls.

The browser folds them (static/js/run/replay*.js) into graph, streams and votes as of any event.
"""

from collections.abc import Mapping
from typing import Any, TypedDict

from apps.runs.models import Run, RunEvent
from apps.runs.selectors import step_get, step_texts

PAGE = 5_000
#: Fields that a replay reads, by event kind. Other kinds are sent with time and name only.
_FIELDS: dict[str, tuple[str, ...]] = {
    "run.finished": ("accepted", "reason"),
    "round.began": ("rollout", "round"),
    "round.ended": ("rollout", "round"),
    "call.began": ("call", "role", "alias", "rollout", "round", "subject", "index"),
    "call.retried": ("call", "attempt", "reason"),
    "call.ended": ("call", "attempt", "ttft_s"),
    "call.failed": ("call", "attempt", "reason"),
    "output.unread": ("call",),
    "lemma.proposed": ("lemma", "rollout"),
    "lemma.merged": ("lemma", "into"),
    "lemma.retired": ("lemma",),
    "lemma.restored": ("lemma",),
    "vote.cast": ("subject", "index", "of", "first_fault", "wrong_lemma", "unscored"),
    "verdict.reached": ("subject", "passes", "valid", "total", "confidence", "low", "high", "unscored", "status"),
    "proof.drafted": ("proof",),
    "proof.selected": ("proof", "accepted"),
    "candidate.drafted": ("candidate", "made_as"),
    "candidate.scored": ("candidate", "index", "of", "scale", "score", "call"),
    "candidate.score_dropped": ("candidate", "index"),
    "candidate.judged": ("candidate", "index", "passed", "call"),
    "pool.kept": ("round", "kept"),
    "pair.judged": ("round", "first", "second", "better"),
    "pair.decided": ("round", "pair", "winner", "by"),
    "state.written": ("turn",),
    "turn.taken": ("conversation", "turn", "succeeded"),
    "memory.stored": ("candidate", "correct", "ayes", "valid"),
    "tool.began": ("call", "job"),
    "tool.ended": ("call",),
    "tool.failed": ("call",),
    "formulas.checked": ("subject", "outcome"),
    "control.requested": ("command", "name", "args"),
    "control.applied": ("command", "name"),
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
        (row.seq, max(0, round((row.at - first).total_seconds() * 1000)), row.kind, _small(row.kind, row.body)) for row in rows
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


def _small(kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    small = {name: body[name] for name in _FIELDS.get(kind, ()) if body.get(name) not in (None, "")}
    if kind == "call.ended":
        usage = body.get("usage") or {}
        small |= {"tokens": usage.get("prompt", 0) + usage.get("completion", 0), "completion": usage.get("completion", 0)}
    if kind == "turn.taken" and body.get("repairs"):
        small["mended"] = True
    if "args" in small:
        small["args"] = {"lemma": small["args"].get("lemma", "")}
    return small
