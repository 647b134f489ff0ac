"""Counts and times of this process as plain numbers. What is new goes to one hash in Redis every other second.

Totals live in Redis and not in the processes: they outlive a worker that ends, and a sum over processes would fall when one
dies, which Prometheus takes for a restart. A process that is killed takes up to `PUSH_EVERY_S` of counts with it; what must be
exact (calls, tokens of a run) is in the journal. docs/operations.md describes each metric.
"""

import threading
import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TOTALS_KEY = "metrics"
PUSH_EVERY_S = 2.0
_SEPARATOR = "\x1f"
_SUM = "sum"

SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0, 1800.0)
SHORT_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROWS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 256.0)


@dataclass(frozen=True)
class Metric:
    """A counter, or a histogram where it has `buckets` (upper bounds). `text` is its help line."""

    text: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


METRICS: Mapping[str, Metric] = {
    # inference workers
    "calls_began": Metric("Calls that a worker began.", ("alias",)),
    "calls_ended": Metric(
        "Calls that ended on a worker: stop, length, cancelled, or the name of the error.", ("alias", "outcome")
    ),
    "tool_calls": Metric(
        "Tool calls that ended on a worker: ok, how the code ended, or the name of the error.", ("job", "outcome")
    ),
    "prompt_tokens": Metric("Prompt tokens of answered calls.", ("alias",)),
    "cached_prompt_tokens": Metric("Prompt tokens that the engine had in its prefix cache.", ("alias",)),
    "completion_tokens": Metric("Tokens that models wrote, thinking included.", ("alias",)),
    "time_to_first_token_seconds": Metric("From asking the backend to the first token.", ("alias",), SECONDS),
    "call_seconds": Metric("From asking the backend to the last token.", ("alias",), SECONDS),
    # orchestrators
    "call_wait_seconds": Metric("From sending a call to its result, less the time of the engine.", ("alias",), SECONDS),
    "calls_redispatched": Metric("Calls sent again because no worker held them any more.", ("alias",)),
    "events": Metric("Events journaled, by kind; call.retried counts calls asked again.", ("kind",)),
    "runs_driven": Metric("Leases taken: starts, resumptions and take-overs."),
    "runs_ended": Metric("Drives that ended, by the state they left the run in.", ("status",)),
    "lease_renewals": Metric("Leases renewed."),
    "fences_lost": Metric("Owners that found that another one has taken their run over."),
    "runs_found_without_owner": Metric("Runs that the warden sent to an orchestrator again."),
    "journal_batch_rows": Metric("Rows of one journal commit.", (), ROWS),
    "journal_commit_seconds": Metric("One journal commit, retries included.", (), SHORT_SECONDS),
    # web
    "event_delay_seconds": Metric("From recording an event to the queue of the sockets that watch it.", (), SHORT_SECONDS),
    "socket_resyncs": Metric("Calls whose tokens a slow socket lost and asked for again."),
}

_lock = threading.Lock()
_new: dict[str, float] = defaultdict(float)
_levels: dict[str, int] = defaultdict(int)
_pushed_at = float("-inf")


def count(name: str, *labels: str, by: float = 1.0) -> None:
    """Add to a counter of `METRICS`; labels in its order."""
    field = _SEPARATOR.join((name, *labels))
    with _lock:
        _new[field] += by


def observe(name: str, value: float, *labels: str) -> None:
    """Note one value of a histogram of `METRICS`."""
    buckets = METRICS[name].buckets
    at = bisect_left(buckets, value)
    field = _SEPARATOR.join((name, *labels))
    with _lock:
        _new[f"{field}{_SEPARATOR}{buckets[at] if at < len(buckets) else '+Inf'}"] += 1.0
        _new[f"{field}{_SEPARATOR}{_SUM}"] += value


def move(name: str, by: int) -> None:
    """Raise or lower a level of this process, such as its open sockets; its heartbeat reports it."""
    with _lock:
        _levels[name] += by


def levels() -> dict[str, int]:
    """The levels of this process now."""
    with _lock:
        return dict(_levels)


def push(client: Any, *, at_once: bool = False) -> None:
    """Add what is new to the totals, at most every `PUSH_EVERY_S`. Raises `RedisError`; nothing is forgotten then."""
    global _new, _pushed_at
    with _lock:
        if not _new or not (at_once or time.monotonic() - _pushed_at >= PUSH_EVERY_S):
            return
        mine, _new = _new, defaultdict(float)
        _pushed_at = time.monotonic()
    try:
        pipeline = client.pipeline(transaction=True)
        for field, value in mine.items():
            pipeline.hincrbyfloat(TOTALS_KEY, field, value)
        pipeline.execute()
    except Exception:
        with _lock:
            for field, value in mine.items():
                _new[field] += value
        raise


@dataclass(frozen=True)
class Spread:
    """A histogram as read: how many values were up to each bound and above the one before, and the sum of all values."""

    counts: tuple[tuple[str, float], ...]
    total: float

    @property
    def number(self) -> float:
        return sum(count for _, count in self.counts)


@dataclass(frozen=True)
class Totals:
    """The totals of all processes, keyed by name and label values."""

    counters: Mapping[str, Mapping[tuple[str, ...], float]]
    spreads: Mapping[str, Mapping[tuple[str, ...], Spread]]

    def sum_of(self, name: str, *labels: str) -> float:
        """A counter over all label values that begin with `labels`."""
        return sum(value for at, value in self.counters.get(name, {}).items() if at[: len(labels)] == labels)

    def spread_sum(self, name: str) -> tuple[float, float]:
        """Number and sum of a histogram's values over all labels."""
        found = self.spreads.get(name, {}).values()
        return sum(spread.number for spread in found), sum(spread.total for spread in found)


def totals_read(client: Any) -> Totals:
    """What all processes have pushed. Fields of metrics that this version does not know are left out."""
    counters: dict[str, dict[tuple[str, ...], float]] = defaultdict(dict)
    parts: dict[tuple[str, tuple[str, ...]], dict[str, float]] = defaultdict(dict)
    for field, value in client.hgetall(TOTALS_KEY).items():
        name, *rest = field.split(_SEPARATOR)
        metric = METRICS.get(name)
        if metric is None or len(rest) != len(metric.labels) + bool(metric.buckets):
            continue
        if metric.buckets:
            parts[name, tuple(rest[:-1])][rest[-1]] = float(value)
        else:
            counters[name][tuple(rest)] = float(value)
    spreads: dict[str, dict[tuple[str, ...], Spread]] = defaultdict(dict)
    for (name, labels), found in parts.items():
        bounds = [*map(str, METRICS[name].buckets), "+Inf"]
        spreads[name][labels] = Spread(tuple((bound, found.get(bound, 0.0)) for bound in bounds), found.get(_SUM, 0.0))
    return Totals(counters, spreads)
