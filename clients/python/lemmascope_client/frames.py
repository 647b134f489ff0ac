"""Rows as data frames. Needs pandas: `pip install "lemmascope-client[frames]"`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lemmascope_client.events import Event

if TYPE_CHECKING:
    import pandas

_CALL = ("role", "alias", "rollout", "round", "subject", "index")
CALL_COLUMNS = (
    "call", *_CALL, "state", "attempt", "inherited", "prompt_tokens", "completion_tokens", "seconds", "finish_reason", "reason",
)  # fmt: skip
EVENT_COLUMNS = ("seq", "at", "kind", "key", "body")


def frame(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] | None = None) -> "pandas.DataFrame":
    """A data frame of the rows. Raises `ImportError` with advice if pandas is missing."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError('Data frames need pandas. Run: pip install "lemmascope-client[frames]"') from error
    return pandas.DataFrame([dict(row) for row in rows], columns=list(columns) if columns else None)


def events_frame(events: Iterable[Event]) -> "pandas.DataFrame":
    """One row an event."""
    return frame(({name: getattr(event, name) for name in EVENT_COLUMNS} for event in events), EVENT_COLUMNS)


def calls_frame(events: Iterable[Event]) -> "pandas.DataFrame":
    """One row a call of a model: who asked what for, and what it cost. Tokens of a call that has not ended are missing.

    `inherited`: taken over from the parent run without asking a model.
    """
    return frame(calls_of(events).values(), CALL_COLUMNS)


def calls_of(events: Iterable[Event]) -> dict[str, dict[str, Any]]:
    """The calls of a run by key, from its events."""
    calls: dict[str, dict[str, Any]] = {}
    for event in events:
        body = event.body
        if event.kind == "call.began":
            calls[body["call"]] = {"call": body["call"], "state": "running"} | {name: body.get(name) for name in _CALL}
        elif event.kind in ("call.ended", "call.failed"):
            row = calls.setdefault(body["call"], {"call": body["call"]})
            row |= _ended(body) if event.kind == "call.ended" else {"state": "failed", "reason": body["reason"]}
            row |= {"attempt": body["attempt"], "inherited": body["attempt"] == 0}
    return calls


def _ended(body: Mapping[str, Any]) -> dict[str, Any]:
    usage = body["usage"]
    return {
        "state": "ended",
        "prompt_tokens": usage["prompt"],
        "completion_tokens": usage["completion"],
        "seconds": body["duration_s"],
        "finish_reason": body["finish_reason"],
    }
