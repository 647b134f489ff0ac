"""The live tail of runs in this web process: one Redis reader fans out to the watching sockets.

Events are lossless: a socket knows the last `seq` it sent and pages the table wherever the tail has a gap. Token deltas are
droppable: a full socket loses them, gets the affected calls, and requests their texts. The rows are the source of truth.
"""

import asyncio
import contextlib
import json
import logging
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import redis.asyncio
from redis.exceptions import RedisError, ResponseError

from apps.processes import metrics
from apps.processes.streams import EVENTS_KEPT, SIGNED_OUT, WATCH_S, async_client, events_key, tokens_key, watch_key
from apps.reasoning.domain.event_base import Kind

logger = logging.getLogger(__name__)

TOKEN_BYTES_PER_SOCKET = 256 * 1024
EVENTS_PER_SOCKET = 500
_BLOCK_MS = 2000
_FORGET_CALL_S = 10.0
_WATCH_EVERY_S = 3.0
_RATE_OVER_S = 3.0


class Subscription:
    """Frames that one socket has not sent yet. Filled by the hub, emptied by the socket; both run on the same loop."""

    def __init__(self, run: str, session: str = "") -> None:
        self.run = run
        self.session = session
        self.is_signed_out = False
        self.watched: set[str] = set()
        self.events: dict[int, dict[str, Any]] = {}
        self.tokens: list[dict[str, Any]] = []
        self.token_bytes = 0
        self.resync: set[str] = set()
        self.news = asyncio.Event()

    def add_event(self, event: dict[str, Any]) -> None:
        if len(self.events) >= EVENTS_PER_SOCKET:
            self.events.clear()  # The socket finds the gap and pages the table: memory is bounded, and no event is lost.
        self.events[event["seq"]] = event
        self.news.set()

    def take_events(self, sent: int) -> tuple[list[dict[str, Any]], int]:
        """The events that follow `sent` without a gap, and the newest known `seq`; clears the events."""
        tail, self.events = self.events, {}
        batch: list[dict[str, Any]] = []
        while sent + len(batch) + 1 in tail:
            batch.append(tail[sent + len(batch) + 1])
        return batch, max(tail, default=0)

    async def wait(self, seconds: float) -> None:
        """Return when there are new frames, or after `seconds`."""
        self.news.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.news.wait()

    def add_tokens(self, item: dict[str, Any]) -> None:
        if item["call"] not in self.watched or item["call"] in self.resync:
            return
        size = len(item["text"])
        if self.token_bytes + size > TOKEN_BYTES_PER_SOCKET:
            self.resync |= {kept["call"] for kept in self.tokens} | {item["call"]}
            self.tokens, self.token_bytes = [], 0
        else:
            self.tokens.append(item)
            self.token_bytes += size
        self.news.set()

    def take_tokens(self) -> tuple[list[dict[str, Any]], list[str]]:
        """Return and clear the deltas to send and the calls to resync."""
        tokens, resync = self.tokens, sorted(self.resync)
        if resync:
            metrics.count("socket_resyncs", by=len(resync))
        self.tokens, self.token_bytes, self.resync = [], 0, set()
        return tokens, resync


class Counter:
    """Tokens of one running call, and their rate over the last few seconds; 0 for a stalled call."""

    def __init__(self, attempt: int) -> None:
        self.attempt = attempt
        self.tokens = 0
        self.seen_at = time.monotonic()
        self._window: deque[tuple[float, int]] = deque()

    def add(self, total: int) -> None:
        """Note `total` tokens so far. The first count of a call that already runs gives no rate."""
        self.tokens, self.seen_at = total, time.monotonic()
        self._window.append((self.seen_at, total))
        while len(self._window) > 2 and self.seen_at - self._window[0][0] > _RATE_OVER_S:
            self._window.popleft()

    @property
    def rate(self) -> float:
        if not self._window:
            return 0.0
        since, first = self._window[0]
        now = time.monotonic()
        if now - self.seen_at > _RATE_OVER_S:
            return 0.0
        return (self.tokens - first) / (now - since) if now - since > 0.2 else 0.0


class Hub:
    """One reader for all watched runs of this process. Use it from one event loop."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, set[Subscription]] = defaultdict(set)
        self._cursors: dict[str, str] = {}
        self.counters: dict[str, dict[str, Counter]] = defaultdict(dict)
        self._ended: dict[str, set[str]] = defaultdict(set)
        self._reader: asyncio.Task[None] | None = None
        self._wake_key = f"wake:{id(self)}:{time.time_ns()}"
        self._redis: redis.asyncio.Redis | None = None
        self._marked_at = 0.0

    async def subscribe(self, run: str, session: str = "") -> Subscription:
        """Start receiving the tail of a run; earlier events are in the table. The end of `session` closes the socket."""
        subscription = Subscription(run, session)
        self._subscriptions[run].add(subscription)
        metrics.move("sockets", 1)
        if self._reader is None or self._reader.done():
            self._redis = async_client()
            self._reader = asyncio.create_task(self._read())
        await self._wake()
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        watching = self._subscriptions[subscription.run]
        if subscription in watching:
            watching.discard(subscription)
            metrics.move("sockets", -1)
        if not watching:
            del self._subscriptions[subscription.run]
            self.counters.pop(subscription.run, None)
            self._ended.pop(subscription.run, None)
            self._cursors.pop(events_key(subscription.run), None)
            self._cursors.pop(tokens_key(subscription.run), None)

    async def close(self) -> None:
        """Stop reading and release the connection."""
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        if self._redis is not None:
            await self._redis.aclose()

    def running(self, run: str) -> dict[str, dict[str, Any]]:
        """Counters of calls with recent tokens."""
        now = time.monotonic()
        calls = self.counters.get(run, {})
        for key in [key for key, counter in calls.items() if now - counter.seen_at > _FORGET_CALL_S]:
            del calls[key]
        return {key: {"n": c.tokens, "rate": round(c.rate, 1), "attempt": c.attempt} for key, c in calls.items()}

    async def _wake(self) -> None:
        """Wake a blocked reader to read the new set of runs."""
        with contextlib.suppress(RedisError, OSError):
            if self._redis is not None:
                await self._mark_watched(self._redis)
                await self._redis.xadd(self._wake_key, {"x": "1"}, maxlen=2)
                await self._redis.expire(self._wake_key, 60)

    async def _mark_watched(self, client: redis.asyncio.Redis) -> None:
        """Mark watched runs, for which workers publish tokens more often."""
        self._marked_at = time.monotonic()
        pipeline = client.pipeline(transaction=False)
        for run in self._subscriptions:
            pipeline.set(watch_key(run), "1", ex=WATCH_S)
        await pipeline.execute()

    def _streams(self) -> dict[Any, Any]:
        self._cursors.setdefault(SIGNED_OUT, "$")
        for run in self._subscriptions:
            self._cursors.setdefault(events_key(run), "$")
            self._cursors.setdefault(tokens_key(run), "$")
        return {**self._cursors, self._wake_key: self._cursors.get(self._wake_key, "0-0")}

    async def _resolve_new(self, client: redis.asyncio.Redis) -> None:
        """`$` means "now" at each read; a reader that is woken in between would miss entries. Fix it to an id once."""
        for key, cursor in list(self._cursors.items()):
            if cursor == "$":
                newest = await client.xrevrange(key, count=1)
                self._cursors[key] = newest[0][0] if newest else "0-0"

    async def _read(self) -> None:
        client = self._redis
        if client is None:
            return
        while self._subscriptions:
            try:
                self._streams()
                await self._resolve_new(client)
                if time.monotonic() - self._marked_at > _WATCH_EVERY_S:
                    await self._mark_watched(client)
                for key, entries in await client.xread(self._streams(), count=1000, block=_BLOCK_MS):
                    kind, _, run = key.partition(":")
                    if kind in {"ev", "tok"} and run not in self._subscriptions:
                        continue  # No watchers left. A stored cursor would later replay all entries until then.
                    self._cursors[key] = entries[-1][0]
                    for entry_id, fields in entries:
                        self._spread(kind, run, entry_id, fields)
                    if kind == "ev":
                        recorded = datetime.fromisoformat(json.loads(entries[-1][1]["event"])["at"])
                        metrics.observe("event_delay_seconds", max(0.0, time.time() - recorded.timestamp()))
            except (RedisError, OSError) as error:
                logger.debug("live tail: %s, trying again", error)
                await asyncio.sleep(0.3)
        if self._reader is asyncio.current_task():
            self._reader = None  # A subscription during the closing of the connection needs a new reader.
        await client.aclose()

    def _spread(self, kind: str, run: str, entry_id: str, fields: dict[str, str]) -> None:
        subscriptions = self._subscriptions.get(run, set())
        if kind == SIGNED_OUT:
            for subscription in [one for watching in self._subscriptions.values() for one in watching]:
                if subscription.session == fields["session"]:
                    subscription.is_signed_out = True
                    subscription.news.set()
        elif kind == "ev":
            event = json.loads(fields["event"])
            for subscription in subscriptions:
                subscription.add_event(event)
            if event["kind"] in {Kind.CALL_ENDED, Kind.CALL_FAILED}:
                self.counters[run].pop(event["body"]["call"], None)
                self._ended[run].add(event["body"]["call"])  # The other stream may still have its last tokens.
        elif kind == "tok" and subscriptions:
            item: dict[str, Any] = {
                "call": fields["call"],
                "attempt": int(fields["attempt"]),
                "ch": fields["ch"],
                "off": int(fields["off"]),
                "text": fields["text"],
            }
            if item["call"] not in self._ended[run]:
                self._count(run, item, int(fields["n"]))
            for subscription in subscriptions:
                subscription.add_tokens(item)

    def _count(self, run: str, item: dict[str, Any], total: int) -> None:
        counter = self.counters[run].get(item["call"])
        if counter is None or counter.attempt != item["attempt"]:
            counter = self.counters[run][item["call"]] = Counter(item["attempt"])
        counter.add(total)


_hubs: dict[asyncio.AbstractEventLoop, Hub] = {}


def hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        for closed in [known for known in _hubs if known.is_closed()]:
            del _hubs[closed]
        _hubs[loop] = Hub()
    return _hubs[loop]


def announce_events(client: Any, run: str, events: Sequence[tuple[int, str]]) -> None:
    """Put committed events, seq and row as JSON, on the run's stream under ids `<seq>-0`; older ones are trimmed.

    A stream with newer ids rejects them: a restore has removed its events, or another owner was faster. The stream is restarted
    with these events; readers page the table at gaps. Raises `RedisError`.
    """
    try:
        _add_events(client, run, events)
    except ResponseError as error:
        if "equal or smaller" not in str(error):
            raise
        logger.warning(
            "run %s: its stream is further than event %d and begins again. After a restore by other means than "
            "`manage.py restore`, run `manage.py after_restore`.", run, events[0][0],
        )  # fmt: skip
        client.delete(events_key(run))
        _add_events(client, run, events)


def _add_events(client: Any, run: str, events: Sequence[tuple[int, str]]) -> None:
    pipeline = client.pipeline(transaction=False)
    for seq, event in events:
        pipeline.xadd(events_key(run), {"event": event}, id=f"{seq}-0", maxlen=EVENTS_KEPT, approximate=True)
    pipeline.execute()
