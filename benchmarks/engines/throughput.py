"""Engine utilisation: tokens per second of the engine alone and of the same calls through the whole stack, alternately.

Alone: a raw process (engine.py, engine_vllm.py) that adds requests and reads tokens without our code. Stack: Celery → inference
worker → engine → streams → this process as the orchestrator with its journal. Both have one engine process; while one measures,
the other sleeps. They alternate, each equally often first, because a machine's speed drifts by more than the difference to
measure. The ratio is the median of the pairs' ratios, with its 95 % interval over resamples. The cost of all our processes
except the engine's is also measured, as a share of the processor time of the calls; it hardly depends on the machine's current
speed.

There are two kinds of load. A burst: calls start together, and the time ends when the last is in the journal; it includes
sending the first and collecting the last. At the highest level, also a queue twice as long as the engine's places, as in
benchmarks of serving: the engine's batch is full from the first call until the last half. This run is unwatched, like most
runs. The same queue is also measured for a run that is open on a page, whose every piece is published on the stream.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, Skipped

if TYPE_CHECKING:
    from apps.reasoning.scaffolds.spec import RunSpec
    from apps.runs.models import Run
    from benchmarks.engines.engine import RawEngine
    from benchmarks.processes import Processes

LEVELS, QUICK_LEVELS = (1, 8, 32, 64), (1, 8)
TOKENS, QUICK_TOKENS = 128, 24
WANTED_AT, WANTED = 64, 0.95
#: Pairs of turns; more where a ratio has a target, because single pairs differ by a tenth.
ROUNDS, ROUNDS_WHERE_WANTED, ROUNDS_READ, QUICK_ROUNDS = 2, 12, 6, 1
QUEUE = 2
RESAMPLES = 2000
CHART = "Tokens a second, by calls at once"


@dataclass(frozen=True)
class Engine:
    """An engine to measure: its alias in `models`, the command of the engine alone, and the interpreter of its worker."""

    alias: str
    models: str
    raw: Sequence[str]
    python: str


def figures(quick: bool = False) -> list[Figure]:
    """SmolLM2 on OpenVINO."""
    import sys

    from apps.reasoning.inference.aliases import load_aliases
    from benchmarks.engines import engine

    command = engine.raw_command(load_aliases(engine.MODELS)[engine.ALIAS])
    return measure(Engine(engine.ALIAS, engine.MODELS.read_text(), command, sys.executable), quick)


def measure(engine: Engine, quick: bool) -> list[Figure]:
    """Both speeds and their ratio at every level. Raises `Skipped` if the engine does not start."""
    from benchmarks import stage
    from benchmarks.engines.engine import prompt

    models = stage.a_file("models.toml", engine.models)
    folder = stage.set_up(MODELS_FILE=str(models), RUN_WINDOW=str(QUEUE * max(LEVELS)))
    from apps.runs.owners.execution import process_writer
    from apps.runs.owners.leases import lease_take
    from benchmarks.processes import Processes

    levels, tokens = (QUICK_LEVELS, QUICK_TOKENS) if quick else (LEVELS, TOKENS)
    run = lease_take(stage.a_run(_spec(engine.alias)).pk, "benchmark/0/x")
    if run is None:
        raise SystemExit("the benchmark run could not be taken")
    found: list[Figure] = []
    with (
        _started(engine.raw) as raw,
        Processes("valkey", "inference", folder=folder, inference="workers.worker", python=engine.python) as processes,
    ):
        raw.measure([prompt(number, 0) for number in range(2)], 8)
        asyncio.run(_round(run, 0, 2, 8))
        turns = _Turns(raw, processes, run, tokens)
        for level in levels:
            found += _of_a_level(level, turns.taken(level, QUICK_ROUNDS if quick else ROUNDS))
        queued = QUEUE * levels[-1]
        found += _of_a_queue(queued, levels[-1], turns.taken(queued, QUICK_ROUNDS if quick else ROUNDS_WHERE_WANTED))
        found += _of_a_queue(
            queued, levels[-1], turns.taken(queued, QUICK_ROUNDS if quick else ROUNDS_READ, is_read=True), is_read=True
        )
    process_writer().close()
    return [*found, Figure("new tokens of each call, at most", tokens)]


@dataclass
class _Taken:
    """Tokens per second of each turn, and our processes' share of the processor time of the calls."""

    alone: list[float]
    stack: list[float]
    ours: float

    @property
    def ratio(self) -> float:
        return median(self.pairs)

    @property
    def interval(self) -> tuple[float, float]:
        random = Random(0)
        found = sorted(median(random.choices(self.pairs, k=len(self.pairs))) for _ in range(RESAMPLES))
        return found[RESAMPLES // 40], found[-RESAMPLES // 40]

    @property
    def pairs(self) -> list[float]:
        return [ours / theirs for ours, theirs in zip(self.stack, self.alone, strict=True)]


class _Turns:
    """Both sides, measured alternately. No prompt is used twice."""

    def __init__(self, raw: "RawEngine", processes: "Processes", run: "Run", tokens: int) -> None:
        self._raw, self._processes, self._run, self._tokens = raw, processes, run, tokens
        self._turn = 0

    def taken(self, calls: int, rounds: int, *, is_read: bool = False) -> _Taken:
        """Measure `rounds` pairs of turns of `calls` calls, each side equally often first. `is_read`: as if a page was open."""
        found, ours_s, engine_s = _Taken([], [], 0.0), 0.0, 0.0
        for number in range(rounds):
            self._turn += 1
            for is_alone in (True, False) if number % 2 else (False, True):
                if is_alone:
                    found.alone.append(_alone(self._raw, self._turn, calls, self._tokens))
                    continue
                if is_read:
                    self._open_a_page()
                before = _ours_and_engine_s(self._processes)
                found.stack.append(asyncio.run(_round(self._run, self._turn, calls, self._tokens)))
                after = _ours_and_engine_s(self._processes)
                ours_s, engine_s = ours_s + after[0] - before[0], engine_s + after[1] - before[1]
        found.ours = ours_s / (ours_s + engine_s)
        return found

    def _open_a_page(self) -> None:
        """Mark the run as watched for longer than any turn takes."""
        from apps.processes.streams import HOUR_S, sync_client, watch_key

        sync_client().set(watch_key(str(self._run.public_id)), "1", ex=HOUR_S)


def _alone(raw: "RawEngine", turn: int, level: int, tokens: int) -> float:
    from benchmarks.engines.engine import prompt

    written, seconds = raw.measure([prompt(number, turn) for number in range(level)], tokens)
    return written / seconds


def _ours_and_engine_s(processes: "Processes") -> tuple[float, float]:
    """CPU seconds until now of our processes including this one, and of the engine's, which are children of the worker."""
    return sum(processes.cpu_s().values()) + time.process_time(), processes.below_s("inference")


def _of_a_level(level: int, taken: _Taken) -> list[Figure]:
    alone, stack = median(taken.alone), median(taken.stack)
    return [
        Figure(f"{level} at once, a burst: through the stack / engine alone", taken.ratio),
        Figure("… engine alone, median", alone, "tokens/s", chart=CHART, line="engine alone", at=level),
        Figure("… through the stack, median", stack, "tokens/s", chart=CHART, line="through the stack", at=level),
        *_of_pairs(taken),
    ]


def _of_a_queue(calls: int, level: int, taken: _Taken, *, is_read: bool = False) -> list[Figure]:
    wanted = WANTED if level == WANTED_AT and not is_read else None
    what = f"{level} at once, {calls} calls{' of a run that is open on a page' if is_read else ''}"
    return [
        Figure(f"{what}: through the stack / engine alone", taken.ratio, "", wanted, "at least"),
        Figure("… engine alone, median", median(taken.alone), "tokens/s"),
        Figure("… through the stack, median", median(taken.stack), "tokens/s"),
        Figure("… 95 % interval, from", taken.interval[0]),
        Figure("… 95 % interval, to", taken.interval[1]),
        *_of_pairs(taken),
    ]


def _of_pairs(taken: _Taken) -> list[Figure]:
    return [
        Figure("… slowest pair of turns, ratio", min(taken.pairs)),
        Figure("… fastest pair of turns, ratio", max(taken.pairs)),
        Figure("… pairs of turns", len(taken.pairs)),
        Figure("… processor time of all our processes but the engine’s, share", taken.ours),
    ]


def _started(command: Sequence[str]) -> "RawEngine":
    """Start the raw engine. Raises `Skipped`."""
    from benchmarks.engines.engine import RawEngine

    try:
        return RawEngine(command)
    except (OSError, ValueError) as error:
        raise Skipped(f"The engine does not start here ({error}).") from error


def _spec(alias: str) -> "RunSpec":
    from apps.reasoning.domain.generation import Sampling
    from apps.reasoning.domain.problems import ProblemText
    from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec

    problem = ProblemText(id="bench", version=1, title="A benchmark", statement="Show that $1 + 1 = 2$.")
    return RunSpec(problem=problem, scaffold="intern_s1_mo", roles={"reasoner": RoleSpec(alias=alias, sampling=Sampling())})


async def _round(run: "Run", turn: int, calls: int, tokens: int) -> float:
    """Tokens per second of `calls` calls that start together, until the last is in the journal."""
    from apps.reasoning.domain.generation import Message, Place, Sampling
    from apps.reasoning.ports import Ask
    from apps.reasoning.scaffolds.running.context import RunContext
    from apps.reasoning.scaffolds.running.controls import NoControls
    from apps.reasoning.scaffolds.running.window import Window
    from apps.reasoning.scaffolds.spec import RunSpec
    from apps.runs.journal.run_journal import RunJournal
    from apps.runs.owners.execution import celery_dispatcher, process_writer
    from benchmarks.engines import engine

    run = await asyncio.to_thread(type(run).objects.get, pk=run.pk)
    journal = await asyncio.to_thread(RunJournal, run, process_writer())
    async with celery_dispatcher(run, journal) as dispatcher:
        spec = RunSpec.model_validate(run.spec)
        context = RunContext(spec, journal, dispatcher, NoControls(), run=str(run.public_id), window=Window(calls))

        async def ask(number: int) -> int:
            final = await context.generate(
                f"{turn}/{number}",
                Ask(
                    role="reasoner",
                    messages=[Message(role="user", content=engine.prompt(number, turn))],
                    place=Place(round=turn, index=number),
                    sampling=Sampling(temperature=0, max_new_tokens=tokens),
                ),
            )
            return final.usage.completion

        began = time.perf_counter()
        written = sum(await asyncio.gather(*(ask(number) for number in range(calls))))
        return written / (time.perf_counter() - began)
