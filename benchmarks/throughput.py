"""Is the engine kept busy? Tokens per second of the engine alone and of the same calls through the whole stack, in turns.

Alone: the raw process of benchmarks/engine.py, requests added and steps taken with nothing of ours. Stack: Celery → inference
worker → engine → streams → this process as the orchestrator with its journal. Both hold one engine process; while one
measures, the other sleeps. The ratio is that of the medians.
"""

import asyncio
import time
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, Skipped

if TYPE_CHECKING:
    from apps.reasoning.scaffolds.spec import RunSpec
    from apps.runs.models import Run

CALLS = 64
TOKENS, QUICK_TOKENS = 128, 24
ROUNDS, QUICK_ROUNDS = 3, 1


def figures(quick: bool = False) -> list[Figure]:
    """The two speeds and their ratio."""
    from benchmarks import engine, stage

    folder = stage.set_up(MODELS_FILE=str(engine.MODELS))
    from apps.reasoning.inference.aliases import load_aliases
    from apps.runs.execution import process_writer
    from apps.runs.leases import lease_take
    from benchmarks.processes import Processes

    tokens, rounds = (QUICK_TOKENS, QUICK_ROUNDS) if quick else (TOKENS, ROUNDS)
    run = lease_take(stage.a_run(_spec()).pk, "benchmark/0/x")
    if run is None:
        raise SystemExit("the benchmark run could not be taken")
    alone, stack = [], []
    try:
        raw = engine.RawEngine(load_aliases(engine.MODELS)[engine.ALIAS])
    except ValueError as error:
        raise Skipped("OpenVINO with SmolLM2 does not start here.") from error
    with Processes("valkey", "inference", folder=folder, inference="workers.worker"):
        raw.measure(2, 8, 0)
        asyncio.run(_round(run, 0, 2, 8))
        for turn in range(1, rounds + 1):
            alone.append(raw.measure(CALLS, tokens, turn))
            stack.append(asyncio.run(_round(run, turn, CALLS, tokens)))
    raw.close()
    process_writer().close()
    return [
        Figure("through the stack / engine alone", median(stack) / median(alone), "", 0.90, "at least"),
        Figure("engine alone, median", median(alone), "tokens/s"),
        Figure("through the stack, median", median(stack), "tokens/s"),
        Figure("slowest and fastest pair of turns, ratio: slowest", min(s / a for s, a in zip(stack, alone, strict=True))),
        Figure("… fastest", max(s / a for s, a in zip(stack, alone, strict=True))),
        Figure("calls at once", CALLS),
        Figure("new tokens of each call, at most", tokens),
        Figure("turns of each", rounds),
    ]


def _spec() -> "RunSpec":
    from apps.reasoning.domain.problems import ProblemText
    from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
    from benchmarks import engine

    problem = ProblemText(id="bench", version=1, title="A benchmark", statement="Show that $1 + 1 = 2$.")
    return RunSpec(problem=problem, scaffold="intern_s1_mo", roles={"reasoner": RoleSpec(alias=engine.ALIAS)})


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
        context = RunContext(spec, journal, dispatcher, NoControls(), run=str(run.public_id), window=Window(CALLS))

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
