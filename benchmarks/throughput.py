"""Is the engine kept busy? Tokens per second of the engine alone and of the same calls through the whole stack, in turns.

Alone: a raw process (engine.py, engine_vllm.py), requests added and tokens read with nothing of ours. Stack: Celery → inference
worker → engine → streams → this process as the orchestrator with its journal. Both hold one engine process; while one
measures, the other sleeps. They take turns, each as often first as second, because a machine's speed drifts by more than is to
be told; at each number of calls at once the ratio is that of the medians. What all our processes but the engine's cost is
measured as well, as a share of the processor time of the calls: that hardly depends on how fast the machine is just now.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, Skipped

if TYPE_CHECKING:
    from apps.reasoning.scaffolds.spec import RunSpec
    from apps.runs.models import Run
    from benchmarks.engine import RawEngine
    from benchmarks.processes import Processes

LEVELS, QUICK_LEVELS = (1, 8, 32, 64), (1, 8)
TOKENS, QUICK_TOKENS = 128, 24
WANTED_AT, WANTED = 64, 0.95
#: Pairs of turns: where a ratio is wanted many, because single pairs differ by a tenth and more.
ROUNDS, ROUNDS_WHERE_WANTED, QUICK_ROUNDS = 2, 8, 1
CHART = "Tokens a second, by calls at once"


@dataclass(frozen=True)
class Engine:
    """An engine to measure: its alias in `models`, the command of it alone, and the interpreter of its worker."""

    alias: str
    models: str
    raw: Sequence[str]
    python: str


def figures(quick: bool = False) -> list[Figure]:
    """SmolLM2 on OpenVINO."""
    import sys

    from apps.reasoning.inference.aliases import load_aliases
    from benchmarks import engine

    command = engine.raw_command(load_aliases(engine.MODELS)[engine.ALIAS])
    return measure(Engine(engine.ALIAS, engine.MODELS.read_text(), command, sys.executable), quick)


def measure(engine: Engine, quick: bool) -> list[Figure]:
    """The two speeds and their ratio at every level. Raises `Skipped` where the engine does not start."""
    from benchmarks import stage
    from benchmarks.engine import prompt

    models = stage.a_file("models.toml", engine.models)
    folder = stage.set_up(MODELS_FILE=str(models), RUN_WINDOW=str(max(LEVELS)))
    from apps.runs.execution import process_writer
    from apps.runs.leases import lease_take
    from benchmarks.processes import Processes

    levels, tokens = (QUICK_LEVELS, QUICK_TOKENS) if quick else (LEVELS, TOKENS)
    run = lease_take(stage.a_run(_spec(engine.alias)).pk, "benchmark/0/x")
    if run is None:
        raise SystemExit("the benchmark run could not be taken")
    found: list[Figure] = []
    turn = 0
    with (
        _started(engine.raw) as raw,
        Processes("valkey", "inference", folder=folder, inference="workers.worker", python=engine.python) as processes,
    ):
        raw.measure([prompt(number, turn) for number in range(2)], 8)
        asyncio.run(_round(run, turn, 2, 8))
        for level in levels:
            alone, stack, ours_s, engine_s = [], [], 0.0, 0.0
            rounds = QUICK_ROUNDS if quick else ROUNDS_WHERE_WANTED if level == WANTED_AT else ROUNDS
            for number in range(rounds):
                turn += 1
                for is_alone in (True, False) if number % 2 else (False, True):
                    if is_alone:
                        alone.append(_alone(raw, turn, level, tokens))
                        continue
                    before = _ours_and_engine_s(processes)
                    stack.append(asyncio.run(_round(run, turn, level, tokens)))
                    after = _ours_and_engine_s(processes)
                    ours_s, engine_s = ours_s + after[0] - before[0], engine_s + after[1] - before[1]
            found += _of_a_level(level, alone, stack, ours_s / (ours_s + engine_s))
    process_writer().close()
    return [*found, Figure("new tokens of each call, at most", tokens)]


def _alone(raw: "RawEngine", turn: int, level: int, tokens: int) -> float:
    from benchmarks.engine import prompt

    written, seconds = raw.measure([prompt(number, turn) for number in range(level)], tokens)
    return written / seconds


def _ours_and_engine_s(processes: "Processes") -> tuple[float, float]:
    """CPU seconds until now of our processes, this one among them, and of the engine's, which stand below the worker."""
    return sum(processes.cpu_s().values()) + time.process_time(), processes.below_s("inference")


def _of_a_level(level: int, alone: list[float], stack: list[float], ours: float) -> list[Figure]:
    wanted = WANTED if level == WANTED_AT else None
    ratios = [ours / theirs for ours, theirs in zip(stack, alone, strict=True)]
    return [
        Figure(f"{level} at once: through the stack / engine alone", median(stack) / median(alone), "", wanted, "at least"),
        Figure("… engine alone, median", median(alone), "tokens/s", chart=CHART, line="engine alone", at=level),
        Figure("… through the stack, median", median(stack), "tokens/s", chart=CHART, line="through the stack", at=level),
        Figure("… slowest pair of turns, ratio", min(ratios)),
        Figure("… fastest pair of turns, ratio", max(ratios)),
        Figure("… pairs of turns", len(ratios)),
        Figure("… processor time of all our processes but the engine’s, share", ours),
    ]


def _started(command: Sequence[str]) -> "RawEngine":
    """Raises `Skipped`."""
    from benchmarks.engine import RawEngine

    try:
        return RawEngine(command)
    except (OSError, ValueError) as error:
        raise Skipped(f"The engine does not start here ({error}).") from error


def _spec(alias: str) -> "RunSpec":
    from apps.reasoning.domain.problems import ProblemText
    from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec

    problem = ProblemText(id="bench", version=1, title="A benchmark", statement="Show that $1 + 1 = 2$.")
    return RunSpec(problem=problem, scaffold="intern_s1_mo", roles={"reasoner": RoleSpec(alias=alias)})


async def _round(run: "Run", turn: int, calls: int, tokens: int) -> float:
    """Tokens per second of `calls` calls that start together, until the last is in the journal."""
    from apps.reasoning.domain.generation import Message, Place, Sampling
    from apps.reasoning.scaffolds.context import RunContext
    from apps.reasoning.scaffolds.controls import NoControls
    from apps.reasoning.scaffolds.spec import RunSpec
    from apps.reasoning.scaffolds.window import Window
    from apps.runs.execution import celery_dispatcher, process_writer
    from apps.runs.journal import RunJournal
    from benchmarks import engine

    run = await asyncio.to_thread(type(run).objects.get, pk=run.pk)
    journal = await asyncio.to_thread(RunJournal, run, process_writer())
    async with celery_dispatcher(run, journal) as dispatcher:
        spec = RunSpec.model_validate(run.spec)
        context = RunContext(spec, journal, dispatcher, NoControls(), run=str(run.public_id), window=Window(calls))

        async def ask(number: int) -> int:
            final = await context.generate(
                f"{turn}/{number}",
                role="reasoner",
                messages=[Message(role="user", content=engine.prompt(number, turn))],
                place=Place(round=turn, index=number),
                sampling=Sampling(temperature=0, max_new_tokens=tokens),
            )
            return final.usage.completion

        began = time.perf_counter()
        written = sum(await asyncio.gather(*(ask(number) for number in range(calls))))
        return written / (time.perf_counter() - began)
