"""The cost of a call without its model: 20,000 calls of a backend that answers at once, over the real broker and journal.

The inference worker and Valkey are separate processes; this process is the orchestrator. CPU time counts in all three.
"""

import asyncio
import resource
import time
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Figure
from benchmarks.texts import text_of

if TYPE_CHECKING:
    from apps.runs.journal.run_journal import RunJournal
    from apps.runs.models import Run

CALLS, QUICK_CALLS = 20_000, 2_000
WINDOW = 64
PART = 800


def figures(quick: bool = False) -> list[Figure]:
    """CPU per call, memory, load and replay."""
    from benchmarks import stage

    folder = stage.set_up()
    from apps.runs.journal.run_journal import RunJournal
    from apps.runs.owners.execution import process_writer
    from apps.runs.owners.leases import lease_take
    from benchmarks.processes import Processes

    calls = QUICK_CALLS if quick else CALLS
    owned = lease_take(stage.a_run().pk, "benchmark/0/x")
    if owned is None:
        raise SystemExit("the benchmark run could not be taken")
    with Processes("valkey", "inference", folder=folder) as processes:
        journal = RunJournal(owned, process_writer())
        _run(_generate(owned, journal, range(-WINDOW, 0)))
        before, own, began = processes.cpu_s(), time.process_time(), time.perf_counter()
        _run(_generate(owned, journal, range(calls)))
        took, own = time.perf_counter() - began, time.process_time() - own
        cost = {name: after - before[name] for name, after in processes.cpu_s().items()}
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        began = time.perf_counter()
        _run(_generate(owned, RunJournal(owned, process_writer()), range(calls)))
        replayed = time.perf_counter() - began
    process_writer().close()

    def per_call(seconds: float) -> float:
        return 1000 * seconds / calls

    return [
        Figure("CPU per call, all processes", per_call(own + sum(cost.values())), "ms", 4, "at most"),
        Figure("… of the orchestrator", per_call(own), "ms"),
        Figure("… of the inference worker", per_call(cost["inference"]), "ms"),
        Figure("… of Valkey", per_call(cost["valkey"]), "ms"),
        Figure("calls", calls),
        Figure("calls per second, wall clock", calls / took, "/s"),
        Figure("orchestrator's greatest memory", memory, "MB", 600, "under"),
        Figure(f"load and replay of {calls:,} records through the context", replayed, "s", 5, "under"),
    ]


def _run(program: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine as `execution.run_drive` does."""
    from apps.processes.loops import new_event_loop

    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(program)


async def _generate(run: "Run", journal: "RunJournal", numbers: range) -> None:
    """Make a call for each number, a window at a time, through context, dispatcher, broker, worker and journal."""
    from apps.reasoning.domain.generation import Message, Place
    from apps.reasoning.ports import Ask
    from apps.reasoning.scaffolds.running.context import RunContext
    from apps.reasoning.scaffolds.running.controls import NoControls
    from apps.reasoning.scaffolds.running.window import Window
    from apps.reasoning.scaffolds.spec import RunSpec
    from apps.runs.owners.execution import celery_dispatcher

    shared = text_of(PART)
    async with celery_dispatcher(run, journal) as dispatcher:
        spec = RunSpec.model_validate(run.spec)
        context = RunContext(spec, journal, dispatcher, NoControls(), run=str(run.public_id), window=Window(WINDOW))

        async def ask(number: int) -> None:
            parts = (shared, f"\n\nCheck step {number}.")
            messages = [Message(role="user", content="".join(parts))]
            place = Place(round=1, subject=f"proof {number}")
            await context.generate(f"s0/r1/verify/{number}", Ask("reasoner", messages, place, parts=parts))

        await asyncio.gather(*(ask(number) for number in numbers))
