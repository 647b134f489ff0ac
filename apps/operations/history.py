"""The last day in samples of ten seconds, in the capped Redis stream `ops:history`.

Every orchestrator has a sampler; a key that expires just before the next interval lets one of them write. Counters are stored
as totals and become rates when read, so a missing sample loses nothing.
"""

import json
import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from apps.operations.situation import Situation, situation
from apps.processes.streams import sync_client
from apps.reasoning.domain.event_base import Kind

logger = logging.getLogger(__name__)
KEY = "ops:history"
TURN_KEY = "ops:history:turn"
EVERY_S = 10.0
KEPT = 24 * 360
MOST_POINTS = 360

Sample = dict[str, float]


def sample_of(now: Situation) -> Sample:
    """The sample of a situation: levels, and running totals of the counters."""
    totals = now.totals
    first = totals.spread_sum("time_to_first_token_seconds")
    wait = totals.spread_sum("call_wait_seconds")
    commit = totals.spread_sum("journal_commit_seconds")
    event = totals.spread_sum("event_delay_seconds")
    return {
        "running": now.running,
        "waiting": now.waiting,
        "queued": now.queued,
        "runs": now.driven,
        "stalled": len(now.stalled),
        "sockets": now.sockets,
        "workers": len(now.workers),
        "lag": round(now.results_lag_s, 3),
        "redis": now.redis.used if now.redis else 0,
        "database": now.database_bytes,
        "tokens": totals.sum_of("completion_tokens"),
        "ended": totals.sum_of("calls_ended"),
        "again": totals.sum_of("calls_redispatched") + totals.sum_of("events", Kind.CALL_RETRIED),
        "first_n": first[0],
        "first_s": round(first[1], 3),
        "wait_n": wait[0],
        "wait_s": round(wait[1], 3),
        "commit_n": commit[0],
        "commit_s": round(commit[1], 4),
        "event_n": event[0],
        "event_s": round(event[1], 4),
        "prompt": totals.sum_of("prompt_tokens"),
        "cached": totals.sum_of("cached_prompt_tokens"),
        "leases": totals.sum_of("lease_renewals"),
    }


def sample() -> None:
    """Write a sample if it is due. Raises `RedisError` and `DatabaseError`."""
    sample_once(sync_client())


def sample_once(client: Any) -> bool:
    """Write a sample unless another process did within the interval. Raises `RedisError` and `DatabaseError`."""
    if not client.set(TURN_KEY, "1", nx=True, px=int(EVERY_S * 950)):
        return False
    now = situation()
    if now.trouble:
        return False
    client.xadd(KEY, {"sample": json.dumps(sample_of(now))}, maxlen=KEPT, approximate=False)
    return True


@dataclass(frozen=True)
class Point:
    """The last sample of an interval, and the growth of totals since the interval before.

    `after`: the sample of the interval before; None for the first interval and after a gap.
    """

    at: datetime
    sample: Sample
    after: Sample | None
    seconds: float

    def added(self, name: str) -> float:
        """Growth of a total. After a loss of Redis the total restarts at 0."""
        if self.after is None:
            return 0.0
        now, before = self.sample.get(name, 0.0), self.after.get(name, 0.0)
        return now - before if now >= before else now

    def rate(self, name: str, per_s: float = 1.0) -> float | None:
        """Growth per `per_s` seconds; None after a gap."""
        return self.added(name) / self.seconds * per_s if self.after is not None and self.seconds > 0 else None

    def share(self, part: str, whole: str) -> float | None:
        """Growth of `part` over growth of `whole`; None without growth, and in samples older than the counter."""
        grown = self.added(whole)
        return self.added(part) / grown if grown > 0 and self.after is not None and whole in self.after else None

    def mean(self, name: str) -> float | None:
        """Mean of the values that a histogram received in this interval; None without values."""
        number = self.added(f"{name}_n")
        return self.added(f"{name}_s") / number if number > 0 else None


def points(client: Any, hours: float) -> list[Point]:
    """At most `MOST_POINTS` points, oldest first. Raises `RedisError`."""
    seconds, micros = client.time()
    since_ms = int((seconds + micros / 1e6 - hours * 3600) * 1000)
    entries = [(int(entry_id.split("-")[0]), fields) for entry_id, fields in client.xrange(KEY, min=since_ms)]
    width_ms = max(EVERY_S, hours * 3600 / MOST_POINTS) * 1000
    kept = list({at_ms // width_ms: (at_ms, fields) for at_ms, fields in entries}.values())  # The last of each interval.
    found: list[Point] = []
    for at_ms, fields in kept:
        sample: Sample = json.loads(fields["sample"])
        before = found[-1] if found else None
        apart = at_ms / 1000 - before.at.timestamp() if before else 0.0
        after = before.sample if before and apart <= max(3 * width_ms / 1000, 60.0) else None
        found.append(Point(datetime.fromtimestamp(at_ms / 1000, UTC), sample, after, apart))
    return found
