"""A simulated contest run: Intern-S1-MO with 256 rollouts of twelve rounds and 24 revisions of eight candidates, 81,672 calls.

    python -m benchmarks.contest.contest [--latency SECONDS] [--rollouts N] [--rounds N]

The orchestrator, Valkey and four inference workers are processes as in production, each worker with 64 places. Only the engine
is a fake (contest_engine.py), with log-normal waits of `--latency` seconds on average. When half of the calls are recorded, the
orchestrator is killed and restarted. CPU time is that of all six processes over the whole run, including the second start and
replay. The database's growth is the size of its file minus the compressed texts; copies of texts in projections and events
count as growth. The first new call is the first that no earlier owner had begun. The sandbox is off, because the fake engine's
formulas are meaningless; sandbox.py measures the sandbox.
"""

import argparse
import os
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from benchmarks.figures import Figure

if TYPE_CHECKING:
    from apps.runs.models import Run
    from benchmarks.processes import Processes

#: Short enough to keep the processors busy with calls. With longer waits, the cost of idle processes and wake-ups would be
#: counted as the calls'. `--latency 0.8` measures that.
LATENCY_S, QUICK_LATENCY_S = 0.2, 0.1
WORKERS = tuple(f"inference/{number}" for number in range(1, 5))
WINDOW = 256
PRESET: Mapping[str, Any] = {}
QUICK: Mapping[str, Any] = {"rollouts": 12, "rounds": 3, "revisions": 2, "candidates": 2, "lemma_votes": 4, "proof_votes": 4}
WITHIN_S = 3000
STARTED_WITHIN_S = 120
CHART = "CPU per call in ms, by process"


def figures(quick: bool = False) -> list[Figure]:
    """CPU per call, memory, the database's growth, and the recovery after a kill."""
    return measure(QUICK if quick else PRESET, QUICK_LATENCY_S if quick else LATENCY_S)


def measure(overrides: Mapping[str, Any], latency_s: float) -> list[Figure]:
    """Measure one run of the preset `contest` with `overrides`. Raises `SystemExit` if it does not finish."""
    from benchmarks import stage
    from benchmarks.contest import contest_engine

    os.environ[contest_engine.LATENCY_S] = str(latency_s)
    folder = stage.set_up(MODELS_FILE=str(Path(__file__).with_name("contest.toml")), RUN_WINDOW=str(WINDOW), SANDBOX="off")
    from benchmarks.processes import Processes

    size = _database_bytes(folder)
    with Processes("valkey", *WORKERS, "orchestrator", folder=folder) as processes, Memory(processes) as memory:
        _wait_for_workers()
        before, began = processes.cpu_s(), time.monotonic()
        run = start(overrides)
        expected = calls_expected(run.spec["params"])
        _wait(run, expected // 2)
        processes.kill("orchestrator")
        killed_at = time.time()
        processes.start("orchestrator")
        _wait(run, None)
        took = time.monotonic() - began
        cost = {name: after - before[name] for name, after in processes.cpu_s().items()}
        generated = _generated()
    resumed_s = _first_new_call_at(run) - killed_at
    return [
        *_costs(run, cost, memory.greatest_mb, (_text_bytes(), _database_bytes(folder) - size)),
        Figure("killed at half: from the restart to the first new call", resumed_s, "s", 10, "under"),
        *_sizes(run, expected, generated),
        Figure("mean latency of the fake engine", latency_s, "s"),
        Figure("calls under way at most", WINDOW),
        Figure("inference workers", len(WORKERS)),
        Figure("wall time", took, "s"),
        Figure("… of it with the processors busy with our processes", sum(cost.values()) / (os.cpu_count() or 1) / took),
    ]


def _costs(run: "Run", cost: Mapping[str, float], greatest_mb: float, sizes: tuple[int, int]) -> list[Figure]:
    """CPU seconds by process, memory, and bytes of texts and of the database, per call."""
    calls = run.steps.filter(kind="call").count()
    texts, grown = sizes

    def per_call(*names: str) -> float:
        return 1000 * sum(cost[name] for name in names) / calls

    return [
        Figure("CPU per call, all processes", per_call(*cost), "ms", 3, "at most"),
        Figure("… of the orchestrator", per_call("orchestrator"), "ms", chart=CHART, line="orchestrator"),
        Figure("… of the inference workers", per_call(*WORKERS), "ms", chart=CHART, line="inference workers"),
        Figure("… of Valkey", per_call("valkey"), "ms", chart=CHART, line="Valkey"),
        Figure("orchestrator's greatest memory", greatest_mb, "MB", 1000, "under"),
        Figure("database per call, beyond the texts", (grown - texts) / calls / 1000, "kB", 4, "under"),
        Figure("… compressed texts per call", texts / calls / 1000, "kB"),
    ]


def _sizes(run: "Run", expected: int, generated: int) -> list[Figure]:
    """The size of the run, and whether it is complete."""
    calls = run.steps.filter(kind="call").count()
    return [
        Figure("calls missing or too many", abs(calls - expected), "", 0, "at most"),
        Figure("calls that were generated twice, after the kill", max(0, generated - calls)),
        Figure("calls", calls),
        Figure("lemmas", run.events.filter(kind="lemma.proposed").count()),
        Figure("events", run.events.count()),
    ]


class Memory:
    """Watches the memory of the orchestrator and its successor. Use as a context manager."""

    def __init__(self, processes: "Processes") -> None:
        self._processes = processes
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="memory", daemon=True)
        self.greatest_mb = 0.0

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.25):
            try:
                self.greatest_mb = max(self.greatest_mb, self._processes.greatest_memory_mb("orchestrator"))
            except (OSError, IndexError):
                continue  # There is no orchestrator between the kill and the restart.


def start(overrides: Mapping[str, Any]) -> "Run":
    """Queue the run as the start page does, with an alias that users cannot choose there."""
    from django.conf import settings

    from apps.explorations.starting.plans import Plan, plan_spec
    from apps.problems.models import Problem, ProblemVersion, Topic
    from apps.reasoning.domain.problems import ProblemText
    from apps.reasoning.inference.aliases import load_aliases
    from apps.runs.services import run_create

    problem = Problem.objects.create(slug="contest", title="A contest", topic=Topic.ALGEBRA)
    version = ProblemVersion.objects.create(
        problem=problem, number=1, statement="Show that $x^2 + y^2 \\ge 2xy$ for all reals."
    )
    text = ProblemText(id=problem.slug, version=1, title=problem.title, statement=version.statement)
    plan = Plan("intern_s1_mo", "contest", overrides, {"": "contest"}, seed=1)
    return run_create(
        owner=None,
        problem_version=version,
        title="A contest",
        spec=plan_spec(plan, text, load_aliases(settings.MODELS_FILE)),
    )


def calls_expected(values: Mapping[str, Any]) -> int:
    """The number of calls: all rounds of all rollouts with lemmas and votes, all versions of all candidates with votes."""
    from apps.reasoning.scaffolds.intern_s1_mo.params import Params
    from benchmarks.contest.contest_texts import LEMMAS_A_ROUND

    params = Params.model_validate(values)
    exploring = params.rollouts * params.rounds * (2 + LEMMAS_A_ROUND * params.lemma_votes)
    return exploring + params.candidates * (1 + params.revisions) * (1 + params.proof_votes)


def _wait_for_workers() -> None:
    """Wait until all workers report a ready engine, so that their start-up does not count as the run's cost."""
    from apps.processes.streams import heartbeats, sync_client

    def ready() -> int:
        beats = heartbeats(sync_client())
        return sum(any(health["state"] == "ready" for health in beat["health"].values()) for beat in beats)

    until = time.monotonic() + STARTED_WITHIN_S
    while ready() < len(WORKERS):
        if time.monotonic() > until:
            raise SystemExit(f"not all workers were ready after {STARTED_WITHIN_S} s")
        time.sleep(0.25)


def _wait(run: "Run", calls: int | None) -> None:
    """Wait until `calls` calls are recorded, or without a number until the run has finished."""
    from apps.runs.models import RunStatus

    until = time.monotonic() + WITHIN_S
    while True:
        run.refresh_from_db(fields=["calls", "status", "status_reason"])
        if run.status == RunStatus.FINISHED or (calls is not None and run.calls >= calls):
            return
        if not run.is_live or time.monotonic() > until:
            raise SystemExit(f"the run is {run.status} after {run.calls} calls: {run.status_reason}")
        time.sleep(0.25)


def _first_new_call_at(run: "Run") -> float:
    """The time of the first new call, in seconds since 1970."""
    resumed = run.events.filter(kind="run.resumed").first()
    first = resumed and run.events.filter(kind="call.began", seq__gt=resumed.seq).first()
    if not first:
        raise SystemExit("the run made no call after it was resumed")
    return float(first.at.timestamp())


def _generated() -> int:
    """Calls that the workers began, by their own metrics."""
    from apps.processes import metrics
    from apps.processes.streams import sync_client

    time.sleep(2 * metrics.PUSH_EVERY_S)
    return int(metrics.totals_read(sync_client()).sum_of("calls_began"))


def _text_bytes() -> int:
    from django.db.models import Sum
    from django.db.models.functions import Length

    from apps.runs.models import Blob

    return int(Blob.objects.aggregate(all=Sum(Length("data")))["all"])


def _database_bytes(folder: Path) -> int:
    """The size of the database after a checkpoint."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return sum(path.stat().st_size for path in folder.glob("lemmascope.sqlite3*"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--latency", type=float, default=LATENCY_S, help="mean time of an answer in seconds")
    parser.add_argument("--rollouts", type=int, help="number of rollouts (default: 256)")
    parser.add_argument("--rounds", type=int, help="number of rounds (default: 12)")
    chosen = parser.parse_args()
    overrides = {name: value for name in ("rollouts", "rounds") if (value := getattr(chosen, name)) is not None}
    for figure in measure(overrides, chosen.latency):
        print("  ".join(figure.row()))


if __name__ == "__main__":
    main()
