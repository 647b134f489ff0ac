"""Names and clients of everything kept in Redis, in one place.

| key | what | lives |
|---|---|---|
| `ev:<run>` | stream, ids `<seq>-0`: the newest events | capped, rebuilt from rows |
| `tok:<run>` | stream: coalesced token deltas | capped, 1 h |
| `buf:<run>:<call>:<attempt>:<channel>` | what an open call has written so far, as `text` or `reasoning` | 1 h |
| `res:<run>` | stream: results on their way to the journal | until committed |
| `fin:<run>:<fingerprint>` | marks that a result exists, so that a repeated message is not generated again | 1 h |
| `cancel:<run>` | flag: stop all calls of the run | 1 day |
| `watch:<run>` | flag: a user has the run open | 10 s, renewed |
| `hb:<worker>`, `workers` | JSON: what an inference worker is doing; the names of those keys | 3 s |
| `pulse:<kind>:<name>`, `pulses` | JSON: that an orchestrator or web process lives; the names of those | 8 s |
| `signed-out` | stream: sessions that have just ended, by the hash of their key | capped |
| `metrics` | hash: counts of all processes (metrics.py) | for ever |
"""

import functools
import hashlib
import json
import socket
import time
from collections.abc import Iterable
from typing import Any, TypedDict, cast

import redis
import redis.asyncio
from django.conf import settings

from apps.reasoning.domain.generation import GenerationRequest

EVENTS_KEPT = 5_000
TOKENS_KEPT = 50_000
HOUR_S = 3600
WORKERS_KEY = "workers"
SIGNED_OUT = "signed-out"
#: Header of a Celery message: when it was sent.
SENT_AT = "sent_at"
DAY_S = 86_400
WATCH_S = 10
#: Keys about runs. All can be lost: after a restore they describe a future that never was.
_OF_RUNS = ("ev:*", "tok:*", "buf:*", "res:*", "fin:*", "cancel:*", "watch:*")
_OF_MESSAGES = ("inference.*", "unacked", "unacked_index")
#: Of a connection whose other end answers nothing at all any more: asked after 10 s, given up after half a minute. What this
#: system's kernel cannot do is left out.
_VANISHED = {
    getattr(socket, name): value
    for name, value in {"TCP_KEEPIDLE": 10, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 30_000}.items()
    if hasattr(socket, name)
}


def events_key(run: str) -> str:
    return f"ev:{run}"


def tokens_key(run: str) -> str:
    return f"tok:{run}"


def results_key(run: str) -> str:
    return f"res:{run}"


def cancel_key(run: str) -> str:
    return f"cancel:{run}"


def watch_key(run: str) -> str:
    return f"watch:{run}"


def buffer_key(run: str, call: str, attempt: int, channel: str) -> str:
    return f"buf:{run}:{call}:{attempt}:{channel}"


def finished_key(run: str, fingerprint: str) -> str:
    return f"fin:{run}:{fingerprint}"


def fingerprint_of(request: GenerationRequest) -> str:
    """What makes two requests the same question; attempts of one call share it."""
    content = request.model_dump_json(exclude={"run", "attempt", "deadline_s", "priority"})
    return hashlib.sha256(content.encode()).hexdigest()[:24]


@functools.cache
def sync_client() -> Any:
    """One client per process for short commands; thread-safe through its pool.

    `Any`, because redis-py types every answer as a union of the plain and the awaitable one.
    """
    return redis.Redis.from_url(settings.REDIS_URL, decode_responses=True, socket_connect_timeout=5, socket_timeout=10)


def async_client() -> "redis.asyncio.Redis":
    """A client for one event loop. `socket_timeout=None`: blocking reads end by their own BLOCK time, not by the socket's.

    A broker whose machine vanished ends none; there the kernel ends the connection. (With a `socket_timeout` redis-py's client
    swallows a cancellation now and then.)
    """
    over_tcp = {"socket_keepalive": True, "socket_keepalive_options": _VANISHED}
    more: dict[str, Any] = over_tcp if settings.REDIS_URL.startswith("redis") else {}
    return redis.asyncio.Redis.from_url(
        settings.REDIS_URL, decode_responses=True, socket_connect_timeout=5, socket_timeout=None, **more
    )


class ActiveCall(TypedDict):
    """A call that a worker is working on."""

    run: str
    key: str
    attempt: int
    fingerprint: str


class Heartbeat(TypedDict):
    """What an inference worker says of itself twice a second."""

    worker: str
    aliases: list[str]
    active: list[ActiveCall]
    health: dict[str, dict[str, Any]]


def heartbeat_publish(client: Any, beat: Heartbeat, lives_ms: int) -> None:
    """Publish a worker's state. Its key is listed, because a scan of all keys takes long if there are many results."""
    key = f"hb:{beat['worker']}"
    pipeline = client.pipeline(transaction=False)
    pipeline.set(key, json.dumps(beat), px=lives_ms)
    pipeline.sadd(WORKERS_KEY, key)
    pipeline.execute()


def heartbeats(client: Any) -> list[Heartbeat]:
    """What every live inference worker says of itself; the names of dead ones are forgotten."""
    names = sorted(client.smembers(WORKERS_KEY))
    values = client.mget(names) if names else []
    gone = [name for name, value in zip(names, values, strict=True) if value is None]
    if gone:
        client.srem(WORKERS_KEY, *gone)
    return [cast("Heartbeat", json.loads(value)) for value in values if value]


def runs_forget(client: Any, queues: Iterable[str]) -> int:
    """Delete all that is known of runs, and the messages of inference workers and of `queues`; returns how many keys.

    Only while no process drives runs. Inference workers may continue: a result and its mark are written together.
    """
    names = [_list_of(queue, step) for queue in queues for step in settings.PRIORITY_STEPS]
    deleted = int(client.delete(*names)) if names else 0
    for pattern in (*_OF_RUNS, *_OF_MESSAGES):
        found: list[str] = []
        for key in client.scan_iter(match=pattern, count=1000):
            found.append(key)
            if len(found) == 1000:
                deleted += int(client.unlink(*found))
                found.clear()
        deleted += int(client.unlink(*found)) if found else 0
    return deleted


def _list_of(queue: str, step: int) -> str:
    """Where kombu keeps the messages of a queue for one priority step."""
    return queue if step == 0 else f"{queue}\x06\x16{step}"


def queue_length(client: Any, queue: str) -> int:
    """Messages that wait in a Celery queue, over all its priorities."""
    return sum(int(client.llen(_list_of(queue, step))) for step in settings.PRIORITY_STEPS)


def queue_lengths(client: Any, queue: str) -> dict[int, int]:
    """Messages that wait in a Celery queue, by priority step."""
    pipeline = client.pipeline(transaction=False)
    for step in settings.PRIORITY_STEPS:
        pipeline.llen(_list_of(queue, step))
    return dict(zip(settings.PRIORITY_STEPS, map(int, pipeline.execute()), strict=True))


_CLOCK_TRUSTED_S = 60.0
_clock: tuple[float, float] | None = None


def broker_time(client: Any) -> float:
    """Seconds since 1970 by the clock of Redis, which all processes share; those of their machines may differ by seconds."""
    global _clock
    now = time.monotonic()
    if _clock is None or now - _clock[0] > _CLOCK_TRUSTED_S:
        seconds, microseconds = client.time()
        _clock = (now, seconds + microseconds / 1e6 - now)
    return _clock[1] + now


def oldest_message(client: Any, queue: str, priority: int) -> float | None:
    """When the message that is read next from this queue and priority was sent, seconds since 1970; None where none waits."""
    step = max(step for step in settings.PRIORITY_STEPS if step <= priority)
    message = client.lindex(_list_of(queue, step), -1)
    return float(json.loads(message)["headers"].get(SENT_AT, 0.0)) if message else None
