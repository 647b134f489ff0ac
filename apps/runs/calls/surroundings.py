"""What the inference workers of a broker report, read once for all runs that a process drives.

Every run looks for lost calls once a second. With a thousand runs, a read for each of them would be most of the work.
"""

import asyncio
import functools
import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar

from apps.processes import streams
from apps.processes.streams import Heartbeat, broker_time, sync_client

R = TypeVar("R")
#: Seconds for which a look counts for other runs.
FRESH_S = 0.4


@dataclass(frozen=True)
class Look:
    """Heartbeats at the time `at` (monotonic), with the broker's clock. `active`: key and fingerprint of calls by run."""

    at: float
    broker_at: float
    aliases: frozenset[str]
    active: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def calls_of(self, run: str) -> Collection[tuple[str, str]]:
        """Calls of a run that workers hold."""
        return self.active.get(run, ())


@functools.cache
def _thread() -> ThreadPoolExecutor:
    """One thread: of the runs that look together, the first one reads and the others find what it read."""
    return ThreadPoolExecutor(1, thread_name_prefix="surroundings")


os.register_at_fork(after_in_child=_thread.cache_clear)
_last: Look | None = None


async def look(*, fresh: bool = False) -> Look:
    """The newest heartbeats; with `fresh`, read now. Raises `RedisError`, OSError."""
    now = time.monotonic()
    return await asked(lambda: _look(now if fresh else now - FRESH_S))


async def asked(function: Callable[[], R]) -> R:
    """Run a short read of the broker in the thread of the looks."""
    return await asyncio.get_running_loop().run_in_executor(_thread(), function)


def _look(not_before: float) -> Look:
    global _last
    if _last is None or _last.at < not_before:
        client = sync_client()
        at, broker_at = time.monotonic(), broker_time(client)
        _last = _of(streams.heartbeats(client), at, broker_at)
    return _last


def _of(beats: Collection[Heartbeat], at: float, broker_at: float) -> Look:
    active: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for beat in beats:
        for call in beat["active"]:
            active[call["run"]].add((call["key"], call["fingerprint"]))
    return Look(at, broker_at, frozenset(alias for beat in beats for alias in beat["aliases"]), dict(active))
