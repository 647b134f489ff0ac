"""The database reads of the run socket. Each is one short query or two; all run in threads."""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from channels.db import DatabaseSyncToAsync
from redis.exceptions import RedisError

from apps.processes.streams import buffer_key, sync_client
from apps.reasoning.domain.event_base import Kind
from apps.runs.journal.texts import texts_get
from apps.runs.models import Run, RunEvent
from apps.runs.selectors import EventRow, event_page, step_get

PAGE = 500
_STATE_FOR_S = 0.8
P = ParamSpec("P")
R = TypeVar("R")


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """A database read in the thread pool: reads of different sockets run in parallel."""
    result: R = await DatabaseSyncToAsync(function, thread_sensitive=False)(*args, **kwargs)
    return result


def page_after(run: Run, after: int) -> list[EventRow]:
    return event_page(run, after, PAGE)


def hello(run: Run) -> dict[str, Any]:
    fresh = Run.objects.get(pk=run.pk)
    return {"t": "hello", "run": str(run.public_id), "seq": fresh.last_seq, "status": fresh.status}


def state(run: Run) -> dict[str, Any]:
    """State for the header: status, counters and whether the run has an owner."""
    fresh = Run.objects.get(pk=run.pk)
    return {
        "t": "state",
        "seq": fresh.last_seq,
        "status": fresh.status,
        "reason": fresh.status_reason,
        "stalled": fresh.is_stalled,
        "calls": fresh.calls,
        "tokens": fresh.tokens,
        "inherited_calls": fresh.inherited_calls,
        "inherited_tokens": fresh.inherited_tokens,
        "seconds": round(fresh.active_seconds, 1),
        "budget": fresh.budget,
    }


_states: dict[int, tuple[float, dict[str, Any]]] = {}
_asking: dict[int, "asyncio.Task[dict[str, Any]]"] = {}


async def shared_state(run: Run) -> dict[str, Any]:
    """`state`, read at most about once a second for all sockets of this process."""
    at, known = _states.get(run.pk, (0.0, {}))
    if time.monotonic() - at < _STATE_FOR_S:
        return known
    task = _asking.get(run.pk)
    if task is None or task.get_loop() is not asyncio.get_running_loop():
        task = _asking[run.pk] = asyncio.ensure_future(in_thread(state, run))
    try:
        known = await asyncio.shield(task)
    finally:
        if task.done():
            _asking.pop(run.pk, None)
    _states[run.pk] = (time.monotonic(), known)
    return known


def call_snapshot(run: Run, call: str) -> dict[str, Any]:
    """The text of a call so far: from the journal if it has ended, else from its worker's buffer."""
    step = step_get(run, call)
    if step is not None:
        texts = texts_get([step.text_sha, step.reasoning_sha])
        return {
            "t": "text",
            "call": call,
            "attempt": step.attempt,
            "text": texts.get(step.text_sha, ""),
            "reasoning": texts.get(step.reasoning_sha, ""),
            "ended": True,
        }
    attempt, text, reasoning = _buffered(run, call)
    return {"t": "text", "call": call, "attempt": attempt, "text": text, "reasoning": reasoning, "ended": False}


def _buffered(run: Run, call: str) -> tuple[int, str, str]:
    """Attempt, text and reasoning of the newest attempt with output."""
    known = 1 + RunEvent.objects.filter(run=run, kind=Kind.CALL_RETRIED, body__call=call).count()
    attempts = range(known + 5, 0, -1)  # Attempts of the reaper have no events.
    keys = [buffer_key(str(run.public_id), call, n, channel) for n in attempts for channel in ("text", "reasoning")]
    try:
        found = sync_client().mget(keys)
    except (RedisError, OSError):
        return known, "", ""
    for at, attempt in enumerate(attempts):
        text, reasoning = found[2 * at], found[2 * at + 1]
        if text or reasoning:
            return attempt, text or "", reasoning or ""
    return known, "", ""


def client_message(text: str | None) -> dict[str, Any] | None:
    """A message of the client; None for unknown ones, because any signed-in user can send data."""
    if not text or len(text) > 8192:
        return None
    try:
        message = json.loads(text)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    calls = message.get("calls")
    if message.get("t") == "watch" and isinstance(calls, list) and all(isinstance(call, str) for call in calls):
        return {"t": "watch", "calls": calls}
    if message.get("t") == "text" and isinstance(message.get("call"), str):
        return {"t": "text", "calls": [message["call"]]}
    return None
