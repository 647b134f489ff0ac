"""The events of a run after a known one, without gaps: from the table, then from the tail. For the socket and for streams."""

import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from apps.runs.live import reads as live_reads
from apps.runs.live.reads import in_thread
from apps.runs.live.tail import Subscription, hub
from apps.runs.models import LIVE, Run

STATE_S, BEAT_S, ADMIT_S = 1.0, 15.0, 60.0


async def events_after(
    run: Run, subscription: Subscription, sent: int, known_seq: int
) -> AsyncIterator[tuple[Sequence[Any], bool]]:
    """Batches of the events after `sent` up to the newest known one, with whether more follow.

    Pages the table if the tail starts later than `sent`.
    """
    while True:
        batch, newest = subscription.take_events(sent)
        sent += len(batch)
        if batch:
            yield batch, newest > sent
        if max(newest, known_seq) <= sent:
            return
        page = await in_thread(live_reads.page_after, run, sent)
        if not page:
            return
        sent = page[-1]["seq"]
        yield page, len(page) == live_reads.PAGE


async def event_stream(run: Run, sent: int, may_follow: Callable[[], bool], session: str = "") -> AsyncIterator[bytes]:
    """The events after `sent` as server-sent events, with a comment every 15 s; the event `end` when the run has ended.

    `may_follow` is asked every minute, in a thread; the stream ends when it returns False or when the `session` ends.
    """
    subscription = await hub().subscribe(str(run.public_id), session)
    next_beat, next_admission = 0.0, time.monotonic() + ADMIT_S
    try:
        while not subscription.is_signed_out:
            now = time.monotonic()
            if now >= next_admission:
                next_admission = now + ADMIT_S
                if not await in_thread(may_follow):
                    return
            state = await live_reads.shared_state(run)
            async for events, _ in events_after(run, subscription, sent, state["seq"]):
                sent = events[-1]["seq"]
                yield b"".join(_frame(event["kind"], event, event["seq"]) for event in events)
            if state["status"] not in LIVE and state["seq"] <= sent:
                yield _frame("end", {"status": state["status"], "reason": state["reason"], "last_seq": sent})
                return
            if now >= next_beat:
                next_beat = now + BEAT_S
                yield b": beat\n\n"
            await subscription.wait(STATE_S)
    finally:
        hub().unsubscribe(subscription)


def _frame(kind: str, data: Any, number: int | None = None) -> bytes:
    head = "" if number is None else f"id: {number}\n"
    return f"{head}event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()
