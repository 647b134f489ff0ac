"""Current state of the installation, for the operations page, `/metrics` and the history."""

import functools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import redis
from django.conf import settings
from django.db.models import Count
from django.utils import timezone
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from apps.operations.since_the_beginning import total_figures
from apps.operations.stores import RedisState, database_bytes, redis_state, results_waiting
from apps.operations.tools import ToolCalls, tool_calls
from apps.operations.training import TrainingNow, training_now
from apps.processes.metrics import Totals, totals_read
from apps.processes.pulse import Pulse, pulses
from apps.processes.streams import ActiveCall, Heartbeat, heartbeats, queue_length, queue_lengths
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_served
from apps.runs.models import LIVE, Run, RunStatus
from apps.ui.words import STATUS_WORDS

MAX_LIVE_RUNS = 200
REDIS_TIMEOUT_S = 2.0


@dataclass(frozen=True)
class AliasLoad:
    """Load of one alias over all its workers. `queued`: messages by priority step; a message may hold several calls.

    An adapter shares engine and queue with the alias `adapter_of`, which has the figures of both. Its own figures stay 0.
    `detail`: report of a tool's worker: which sandbox is active, or why there is none.
    `cached_share`: mean over workers that report it. `cache_used`: the fullest worker. None without reports.
    """

    name: str
    title: str
    queued: Mapping[int, int]
    running: int = 0
    waiting: int = 0
    tokens_per_s: float = 0.0
    workers: int = 0
    places: int = 0
    cached_share: float | None = None
    cache_used: float | None = None
    troubles: Sequence[str] = ()
    is_tool: bool = False
    detail: str = ""
    adapter_of: str = ""

    @property
    def queue_length(self) -> int:
        return sum(self.queued.values())

    @property
    def steps(self) -> list[int]:
        """Queue lengths by priority, most urgent first."""
        return [self.queued[step] for step in sorted(self.queued)]


@dataclass(frozen=True)
class WorkerNow:
    """An inference worker: the aliases it serves and the calls it holds."""

    name: str
    aliases: Sequence[str]
    calls: Sequence[ActiveCall]
    tokens_per_s: float


@dataclass(frozen=True)
class ProcessNow:
    """An orchestrator, web process or train worker with its levels (`metrics.move`); the runs are those of an orchestrator."""

    name: str
    up_s: float
    levels: Mapping[str, int]
    runs: Sequence[Run] = ()


@dataclass(frozen=True)
class Situation:
    """State of the installation. `trouble`: why the figures from Redis are missing; database figures are always present."""

    at: datetime
    runs: Mapping[str, int]
    stalled: Sequence[Run]
    database_bytes: int
    trouble: str = ""
    aliases: Sequence[AliasLoad] = ()
    workers: Sequence[WorkerNow] = ()
    orchestrators: Sequence[ProcessNow] = ()
    webs: Sequence[ProcessNow] = ()
    trainers: Sequence[ProcessNow] = ()
    training: TrainingNow = field(default_factory=lambda: TrainingNow({}))
    runs_queued: int = 0
    results: int = 0
    results_lag_s: float = 0.0
    redis: RedisState | None = None
    totals: Totals = field(default_factory=lambda: Totals({}, {}))

    @property
    def run_counts(self) -> list[tuple[str, int]]:
        """Number of runs by status in words, without zeros."""
        return [(STATUS_WORDS.get(status, status), number) for status, number in self.runs.items() if number]

    @property
    def tools(self) -> list[AliasLoad]:
        return [alias for alias in self.aliases if alias.is_tool]

    @property
    def tool_calls(self) -> list[ToolCalls]:
        return tool_calls(self.totals)

    @property
    def total_figures(self) -> list[tuple[str, str]]:
        return total_figures(self.totals)

    @property
    def running(self) -> int:
        return sum(alias.running for alias in self.aliases)

    @property
    def waiting(self) -> int:
        return sum(alias.waiting for alias in self.aliases)

    @property
    def queued(self) -> int:
        return sum(alias.queue_length for alias in self.aliases)

    @property
    def tokens_per_s(self) -> float:
        return sum(alias.tokens_per_s for alias in self.aliases)

    @property
    def sockets(self) -> int:
        return sum(process.levels.get("sockets", 0) for process in self.webs)

    @property
    def driven(self) -> int:
        return sum(process.levels.get("runs", 0) for process in self.orchestrators)


def situation() -> Situation:
    """Read the current state; about ten commands to Redis and six queries."""
    live = list(Run.objects.filter(status__in=LIVE).order_by("-pk")[:MAX_LIVE_RUNS])
    counts = dict(Run.objects.order_by().values_list("status").annotate(number=Count("pk")))
    base: dict[str, Any] = {
        "at": timezone.now(),
        "runs": {str(status): counts.get(status, 0) for status in RunStatus},
        "stalled": [run for run in live if run.is_stalled],
        "database_bytes": database_bytes(),
        "training": training_now(),
    }
    try:
        return Situation(**base, **_of_redis(_scrape_client(settings.REDIS_URL), live))
    except (RedisError, OSError) as error:
        return Situation(**base, trouble=f"Redis does not answer ({error}).")
    except AliasError as error:
        return Situation(**base, trouble=f"The models file cannot be read: {error}")


@functools.cache
def _scrape_client(url: str) -> Any:
    """A client with short timeouts: a scrape must not wait as long as a run for a Redis that hangs."""
    return redis.Redis.from_url(
        url,
        decode_responses=True,
        socket_connect_timeout=REDIS_TIMEOUT_S,
        socket_timeout=REDIS_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
    )


def _of_redis(client: Any, live: Sequence[Run]) -> dict[str, Any]:
    beats = sorted(heartbeats(client), key=lambda beat: beat["worker"])
    found = pulses(client)
    aliases = _aliases()
    adapters = {alias.name for alias in aliases if alias.adapter_of}
    number, lag_s = results_waiting(client, [str(run.public_id) for run in live])
    return {
        "aliases": [
            _adapter(alias, beats) if alias.adapter_of else _alias(alias, queue_lengths(client, alias.queue), beats)
            for alias in aliases
        ],
        "workers": [_worker(beat, adapters) for beat in beats],
        "orchestrators": [_process(pulse, live) for pulse in found if pulse["kind"] == "orchestrator"],
        "webs": [_process(pulse, ()) for pulse in found if pulse["kind"] == "web"],
        "trainers": [_process(pulse, ()) for pulse in found if pulse["kind"] == "trainer"],
        "runs_queued": queue_length(client, settings.CELERY_TASK_DEFAULT_QUEUE),
        "results": number,
        "results_lag_s": lag_s,
        "redis": redis_state(client),
        "totals": totals_read(client),
    }


def _aliases() -> list[Alias]:
    is_off = settings.SANDBOX == "off"
    return [one for one in load_served(settings.MODELS_FILE).values() if one.enabled and not (one.is_tool and is_off)]


def _alias(alias: Alias, queued: Mapping[int, int], beats: Sequence[Heartbeat]) -> AliasLoad:
    reports = [beat["health"][alias.name] for beat in beats if alias.name in beat["health"]]
    workers = sum(alias.name in beat["aliases"] for beat in beats)
    shares = [report["cached_share"] for report in reports if report.get("cached_share") is not None]
    used = [report["cache_used"] for report in reports if report.get("cache_used") is not None]
    return AliasLoad(
        name=alias.name,
        title=alias.title,
        queued=queued,
        running=sum(report["running"] for report in reports),
        waiting=sum(report["waiting"] for report in reports),
        tokens_per_s=sum(report["tokens_per_s"] for report in reports),
        workers=workers,
        places=workers * alias.concurrency,
        cached_share=sum(shares) / len(shares) if shares else None,
        cache_used=max(used, default=None),
        troubles=sorted({report["detail"] for report in reports if report["state"] == "down"}),
        is_tool=alias.is_tool,
        detail=next((report["detail"] for report in reports if alias.is_tool), ""),
    )


def _adapter(alias: Alias, beats: Sequence[Heartbeat]) -> AliasLoad:
    workers = sum(alias.name in beat["aliases"] for beat in beats)
    return AliasLoad(name=alias.name, title=alias.title, queued={}, workers=workers, adapter_of=alias.adapter_of)


def _worker(beat: Heartbeat, adapters: Collection[str]) -> WorkerNow:
    """An inference worker. Its reports on adapters repeat that of their engine, so their speed is not added."""
    speed = sum(report["tokens_per_s"] for name, report in beat["health"].items() if name not in adapters)
    return WorkerNow(beat["worker"], beat["aliases"], beat["active"], speed)


def _process(pulse: Pulse, live: Sequence[Run]) -> ProcessNow:
    runs = [run for run in live if run.lease_owner.startswith(f"{pulse['name']}/")]
    return ProcessNow(pulse["name"], pulse["up_s"], pulse["levels"], runs)


@dataclass(frozen=True)
class HeldRun:
    """A run for which a worker holds calls. `public_id` is empty for a test prompt of the Models page."""

    public_id: str
    title: str
    calls: int


def runs_by_worker(workers: Sequence[WorkerNow]) -> list[tuple[WorkerNow, list[HeldRun]]]:
    """Each worker with its runs, those with most calls first."""
    names = {call["run"] for worker in workers for call in worker.calls if not call["run"].startswith("test-")}
    titles = {str(at): title for at, title in Run.objects.filter(public_id__in=names).values_list("public_id", "title")}

    def held(run: str, calls: int) -> HeldRun:
        return HeldRun(run if run in titles else "", titles.get(run, "test prompt"), calls)

    return [
        (worker, [held(run, calls) for run, calls in Counter(call["run"] for call in worker.calls).most_common()])
        for worker in workers
    ]
