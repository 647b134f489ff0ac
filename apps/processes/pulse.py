"""The heartbeat of orchestrators and web processes, and the way of their counts to Redis: one thread in each process.

`pulse:<kind>:<name>` is JSON and lives a few seconds; the set `pulses` lists the names: a reader need not scan all keys.
Inference workers have a heartbeat of their own (workers/worker.py) and push their counts with it.
"""

import atexit
import json
import logging
import threading
import time
from contextlib import suppress
from typing import Any, Literal, TypedDict, cast

from redis.exceptions import RedisError

from apps.processes import metrics
from apps.processes.logs import process_name
from apps.processes.streams import sync_client

logger = logging.getLogger(__name__)
EVERY_S = 2.0
LIVES_MS = 8000
_NAMES = "pulses"
_beating = threading.Lock()
_ended = threading.Event()

Kind = Literal["orchestrator", "web", "trainer"]


class Pulse(TypedDict):
    """What a process says of itself. `levels` are those of `metrics.move`; `up_s` is how long it has been running."""

    kind: str
    name: str
    up_s: float
    levels: dict[str, int]


def start(kind: Kind) -> threading.Thread:
    """Beat until the process ends; one that ends by itself takes its heartbeat back."""
    atexit.register(_end, kind)
    thread = threading.Thread(target=_beat_for_ever, args=(kind, time.monotonic()), name="pulse", daemon=True)
    thread.start()
    return thread


def beat(client: Any, kind: Kind, since: float) -> None:
    """One beat; `since` is when the process started, on the monotonic clock. Raises `RedisError`."""
    pulse: Pulse = {"kind": kind, "name": process_name(), "up_s": time.monotonic() - since, "levels": metrics.levels()}
    key = _key(kind)
    pipeline = client.pipeline(transaction=False)
    pipeline.set(key, json.dumps(pulse), px=LIVES_MS)
    pipeline.sadd(_NAMES, key)
    pipeline.execute()
    metrics.push(client)


def _key(kind: Kind) -> str:
    return f"pulse:{kind}:{process_name()}"


def pulses(client: Any) -> list[Pulse]:
    """The processes that live, by kind and name; names without a beat are forgotten."""
    names = sorted(client.smembers(_NAMES))
    values = client.mget(names) if names else []
    gone = [name for name, value in zip(names, values, strict=True) if value is None]
    if gone:
        client.srem(_NAMES, *gone)
    return [cast("Pulse", json.loads(value)) for value in values if value]


def _end(kind: Kind) -> None:
    with _beating:
        _ended.set()
        with suppress(RedisError, OSError):
            sync_client().delete(_key(kind))


def _beat_for_ever(kind: Kind, since: float) -> None:
    while not _ended.is_set():
        try:
            with _beating:
                if not _ended.is_set():
                    beat(sync_client(), kind, since)
        except (RedisError, OSError) as error:
            logger.debug("pulse: %s", error)
        except Exception:
            logger.exception("pulse")
        _ended.wait(EVERY_S)
