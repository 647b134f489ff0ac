"""The cost of each scaffold without its models: CPU per call, in one process and through the stack.

The answers come at once from a model that keeps to every format and never ends a search early (scaffold_texts.py). *Alone*:
scaffold, prompts, reading and context over a journal in memory, in one process. *Through the stack*: this process is the
orchestrator; Valkey and the inference worker are separate processes; CPU counts in all three. Small searches are repeated until
there are enough calls, each as a separate run, including its start and end. They run one at a time, where each call pays for
each message and each commit alone, and sixteen at a time, as in a busy installation. The target is that of a busy orchestrator,
so it applies to the latter.

Left out: tools (AlphaApollo answers in its first turn), formula checks, and viewers.
"""

import asyncio
import itertools
import time
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Figure
from benchmarks.scaffold_texts import reply

if TYPE_CHECKING:
    from apps.reasoning.domain.generation import Final, GenerationRequest
    from apps.reasoning.scaffolds.spec import RunSpec
    from benchmarks.processes import Processes

CALLS, QUICK_CALLS = 1_500, 1
ALIAS = "scaffolds"
MEASURE = "intern_s1_mo"
AT_ONCE = 16
CHART = "CPU per call in ms, by scaffold"


def figures(quick: bool = False) -> list[Figure]:
    """CPU milliseconds per call of every scaffold."""
    from pathlib import Path

    from benchmarks import stage

    calls = QUICK_CALLS if quick else CALLS
    folder = stage.set_up(MODELS_FILE=str(Path(__file__).with_name("scaffolds.toml")), SANDBOX="off")
    from apps.reasoning.programs.registry import SCAFFOLDS
    from apps.runs.owners.execution import process_writer
    from benchmarks.processes import Processes

    alone = {name: _alone(name, calls) for name in SCAFFOLDS}
    with Processes("valkey", "inference", folder=folder) as processes:
        _through_the_stack(MEASURE, 1, processes)
        single = {name: _through_the_stack(name, calls, processes) for name in SCAFFOLDS}
        busy = {name: _through_the_stack(name, calls, processes, at_once=1 if quick else AT_ONCE) for name in SCAFFOLDS}
    process_writer().close()
    return [figure for name in SCAFFOLDS for figure in _rows(name, alone[name], single[name], busy[name])]


def _rows(name: str, alone: float, single: float, busy: float) -> list[Figure]:
    return [
        Figure(f"{name}, in one process", alone, "ms", chart=CHART, line="in one process"),
        Figure(f"{name}, through the stack, one search", single, "ms", chart=CHART, line="one search"),
        Figure(f"{name}, through the stack, {AT_ONCE} at once", busy, "ms", 4, "at most", chart=CHART, line="at once"),
    ]


def _alone(name: str, calls: int) -> float:
    """CPU milliseconds per call with cached answers, which the first search generates."""
    asyncio.run(_in_memory(name))
    made, began = 0, time.process_time()
    while made < calls:
        made += asyncio.run(_in_memory(name))
    return 1000 * (time.process_time() - began) / made


async def _in_memory(name: str) -> int:
    """Run one search. Returns its number of calls."""
    from apps.reasoning.journal.memory import InMemoryJournal
    from apps.reasoning.scaffolds.running.context import RunContext
    from apps.reasoning.scaffolds.running.controls import NoControls

    journal = InMemoryJournal()
    context = RunContext(spec_of(name), journal, AtOnce(), NoControls())
    await _solved(name, context)
    return journal.spent.calls


def _through_the_stack(name: str, calls: int, processes: "Processes", at_once: int = 1) -> float:
    """CPU milliseconds per call of all processes, with `at_once` parallel searches."""
    before, began, made = processes.cpu_s(), time.process_time(), 0
    while made < calls:
        made += asyncio.run(_side_by_side(name, at_once))
    own = time.process_time() - began
    return 1000 * (own + sum(after - before[process] for process, after in processes.cpu_s().items())) / made


async def _side_by_side(name: str, at_once: int) -> int:
    """Run `at_once` parallel searches. Returns their number of calls."""
    return sum(await asyncio.gather(*(_over_the_broker(name) for _ in range(at_once))))


_numbers = itertools.count(1)


async def _over_the_broker(name: str) -> int:
    """Run one search as a separate run. Returns its number of calls."""
    from asgiref.sync import sync_to_async

    from apps.reasoning.scaffolds.running.context import RunContext
    from apps.reasoning.scaffolds.running.controls import NoControls
    from apps.reasoning.scaffolds.running.window import Window
    from apps.runs.journal.run_journal import RunJournal
    from apps.runs.owners.execution import celery_dispatcher, process_writer
    from apps.runs.owners.leases import lease_take
    from benchmarks import stage

    def opened() -> tuple[Any, "RunJournal"]:
        owned = lease_take(stage.a_run(spec_of(name)).pk, f"benchmark/{next(_numbers)}/x")
        if owned is None:
            raise SystemExit("the benchmark run could not be taken")
        return owned, RunJournal(owned, process_writer())

    run, journal = await sync_to_async(opened)()
    async with celery_dispatcher(run, journal) as dispatcher:
        context = RunContext(spec_of(name), journal, dispatcher, NoControls(), run=str(run.public_id), window=Window(64))
        await _solved(name, context)
        await journal.flush()
    return journal.spent.calls


async def _solved(name: str, context: Any) -> None:
    from apps.reasoning.programs.registry import SCAFFOLDS

    scaffold = SCAFFOLDS[name]
    outcome = await scaffold.solve(context.spec.problem, context, scaffold.read_params(scaffold.measured_with))
    if outcome.ended_by != "exhausted" or not outcome.proof:
        raise SystemExit(f"{name} ended with {outcome.ended_by}: {outcome.reason}")


def spec_of(name: str) -> "RunSpec":
    """The specification of a measured run of the scaffold, on a problem with an answer if it needs one."""
    from apps.reasoning.domain.generation import Sampling
    from apps.reasoning.domain.problems import ProblemText
    from apps.reasoning.programs.registry import SCAFFOLDS
    from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec

    scaffold = SCAFFOLDS[name]
    params = scaffold.read_params(scaffold.measured_with)
    problem = ProblemText(id="bench", version=1, title="A benchmark", statement="Show that $1 + 1 = 2$.")
    if scaffold.cannot_run(problem, params):
        problem = problem.model_copy(update={"answer": "2"})
    return RunSpec(
        problem=problem,
        scaffold=name,
        params=params.model_dump(mode="json"),
        roles={role.name: RoleSpec(alias=ALIAS, sampling=Sampling()) for role in scaffold.roles},
        seed=1,
    )


class AtOnce:
    """A dispatcher that answers at once."""

    async def dispatch(self, request: "GenerationRequest") -> "Final":
        """See `Dispatcher.dispatch`."""
        return _final(request.key, request.role)


def _final(key: str, role: str) -> "Final":
    from apps.reasoning.domain.generation import Final, Usage

    found = reply(key, role)
    usage = Usage(prompt=1_200, completion=len(found.text) // 4)
    return Final(text=found.text, reasoning=found.reasoning, finish_reason="stop", usage=usage, ttft_s=0.1, duration_s=1.0)
