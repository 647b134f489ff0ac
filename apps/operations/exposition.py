"""`/metrics`: the figures of all processes in Prometheus' text format, read from Redis and the database on every scrape.

All web processes return the same figures, so scrape only one of them.
"""

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from apps.operations.situation import AliasLoad, ProcessNow, Situation
from apps.processes.metrics import METRICS, Totals

PREFIX = "lemmascope_"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class SituationCollector(Collector):
    """Prometheus metrics of one `Situation`."""

    def __init__(self, now: Situation) -> None:
        self._now = now

    def collect(self) -> Iterator[Metric]:
        yield from _of_installation(self._now)
        if not self._now.trouble:
            yield from _of_aliases(self._now.aliases)
            yield from _of_processes(self._now)
            yield from _of_totals(self._now.totals)


def exposition(now: Situation) -> bytes:
    """The body of a scrape response."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(SituationCollector(now))
    return generate_latest(registry)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, text, value=value)


def _gauges(name: str, text: str, labels: Iterable[str], values: Iterable[tuple[tuple[str, ...], float]]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(PREFIX + name, text, labels=list(labels))
    for at, value in values:
        family.add_metric(at, value)
    return family


def _of_installation(now: Situation) -> Iterator[Metric]:
    yield _gauge("redis_up", "1 where Redis answers; without it most other metrics are missing.", 0.0 if now.trouble else 1.0)
    runs = [((status,), float(number)) for status, number in now.runs.items()]
    yield _gauges("runs", "Runs by status.", ["status"], runs)
    yield _gauge("runs_stalled", "Live runs whose lease has run out.", len(now.stalled))
    yield _gauge("database_bytes", "Size of the database.", now.database_bytes)
    jobs = [((state,), float(number)) for state, number in now.training.states.items()]
    yield _gauges("training_jobs", "Training jobs by state.", ["state"], jobs)
    silence = [((), now.training.silence_s)] if now.training.silence_s is not None else []
    text = "Time since the last heartbeat of the trainer that has been silent longest; of jobs under way."
    yield _gauges("training_silence_seconds", text, [], silence)
    if now.redis is not None:
        yield _gauge("redis_bytes", "Memory that Redis uses.", now.redis.used)
        yield _gauge("redis_limit_bytes", "Redis' maxmemory; 0 is none.", now.redis.limit)
        yield _gauge("redis_keys", "Keys in Redis.", now.redis.keys)
        yield _gauge("redis_saving", "1 where Redis' last write to its file went well.", float(now.redis.is_saving))
        yield _gauge("results_waiting", "Results that the journal has not taken.", now.results)
        yield _gauge("results_lag_seconds", "Age of the oldest result that the journal has not taken.", now.results_lag_s)
        yield _gauge("runs_queue_length", "Messages that wait for an orchestrator.", now.runs_queued)


def _of_aliases(aliases: Iterable[AliasLoad]) -> Iterator[Metric]:
    """Figures of engines and queues, each under the engine's own alias, so that sums over aliases count an engine once."""
    found = [alias for alias in aliases if not alias.adapter_of]

    def per_alias(name: str, text: str, values: Iterable[float | None]) -> Metric:
        labelled = [((alias.name,), value) for alias, value in zip(found, values, strict=True) if value is not None]
        return _gauges(name, text, ["alias"], labelled)

    queued = [((alias.name, str(step)), float(number)) for alias in found for step, number in alias.queued.items()]
    text = "Messages in the queue of an alias, by priority step; at 0 and 3 a person is waiting."
    yield _gauges("queue_length", text, ["alias", "priority"], queued)
    yield per_alias("calls_running", "Calls that engines generate.", [alias.running for alias in found])
    yield per_alias("calls_waiting", "Calls that workers hold and engines have not begun.", [alias.waiting for alias in found])
    yield per_alias("tokens_per_second", "Tokens written per second lately.", [alias.tokens_per_s for alias in found])
    yield per_alias("workers", "Workers that serve the alias.", [alias.workers for alias in found])
    yield per_alias("places", "Calls that these workers generate at a time.", [alias.places for alias in found])
    text = "Prompt tokens found in the prefix cache, as a share of all; mean over workers."
    yield per_alias("prefix_cache_hit_ratio", text, [alias.cached_share for alias in found])
    text = "Memory for keys and values in use, 0 to 1; the fullest worker."
    yield per_alias("kv_cache_usage_ratio", text, [alias.cache_used for alias in found])


def _of_processes(now: Situation) -> Iterator[Metric]:
    def number(processes: Iterable[ProcessNow], level: str) -> float:
        return float(sum(process.levels.get(level, 0) for process in processes))

    kinds = {"inference": len(now.workers), "orchestrator": len(now.orchestrators), "web": len(now.webs)}
    kinds["trainer"] = len(now.trainers)
    lives = [((kind,), float(amount)) for kind, amount in kinds.items()]
    yield _gauges("processes", "Processes whose heartbeat is fresh.", ["kind"], lives)
    text = "Calls sent and not answered, over all orchestrators."
    yield _gauge("calls_outstanding", text, number(now.orchestrators, "calls_outstanding"))
    yield _gauge("runs_driven_now", "Runs that orchestrators drive.", number(now.orchestrators, "runs"))
    yield _gauge("sockets_open", "Sockets that watch runs, over all web processes.", number(now.webs, "sockets"))


def _of_totals(totals: Totals) -> Iterator[Metric]:
    """Every metric of `METRICS`; one without labels starts at 0."""
    for name, metric in METRICS.items():
        if metric.buckets:
            histogram = HistogramMetricFamily(PREFIX + name, metric.text, labels=list(metric.labels))
            for labels, spread in totals.spreads.get(name, {}).items():
                below, buckets = 0.0, []
                for bound, number in spread.counts:
                    below += number
                    buckets.append((bound, below))
                histogram.add_metric(list(labels), buckets, spread.total)
            yield histogram
        else:
            counter = CounterMetricFamily(PREFIX + name, metric.text, labels=list(metric.labels))
            values = totals.counters.get(name, {})
            for labels, value in (values or ({} if metric.labels else {(): 0.0})).items():
                counter.add_metric(list(labels), value)
            yield counter
