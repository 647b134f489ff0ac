"""Waits of urgent calls while a contest run fills every place of the workers, with hundreds of calls queued.

The contest run is the real scaffold in its own orchestrator, at the priority of its preset. Two unchanged inference workers
have a fake engine (contest_engine.py) and 32 places each. This process is a second orchestrator. It sends calls of a run that a
person waits for, at the priority of a coach's suggestion: first as many at a time as the workers have spare places, then four
times as many. It also sends calls of a run without urgency. A call's wait is the time from sending to the recorded answer minus
the engine's own time; the figure is its ratio to that time.

Before the contest begins, a run sends many calls of a tenth of a second at once, to see whether the workers keep all places
busy.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.figures import Figure, percentiles

if TYPE_CHECKING:
    from apps.reasoning.domain.generation import Final
    from apps.reasoning.scaffolds.running.context import RunContext
    from apps.runs.models import Run

WORKERS = ("inference/1", "inference/2")
PLACES = 32
WINDOW = 256
LATENCY_S = 1.0
#: Two workers with one spare place in sixteen; and more calls than spare places.
AT_ONCE, CROWD = 4, 16
JOBS, QUICK_JOBS = 120, 24
URGENT, ORDINARY = 3, 9
FULL_WITHIN_S = 120
SHORT_PLACES = 4
SHORT_CALLS = 240
_MODELS = f"""[contest]
backend = "scripted"
title = "Well-formed answers of every role after log-normal waits"
concurrency = {PLACES}
options.script = "benchmarks/contest/contest_texts.py"
[short]
backend = "scripted"
title = "The same after a tenth of a second"
concurrency = {SHORT_PLACES}
options.script = "benchmarks/contest/contest_texts.py"
"""


@dataclass(frozen=True)
class _Job:
    """One measured call. `crowd`: calls ahead of it, running or waiting."""

    wait_s: float
    engine_s: float
    crowd: int

    @property
    def ratio(self) -> float:
        return self.wait_s / self.engine_s


def figures(quick: bool = False) -> list[Figure]:
    """Waits of urgent calls and of another run's ordinary ones."""
    from benchmarks import stage
    from benchmarks.contest import contest, contest_engine

    os.environ[contest_engine.LATENCY_S] = str(LATENCY_S)
    models = stage.a_file("models.toml", _MODELS)
    folder = stage.set_up(MODELS_FILE=str(models), RUN_WINDOW=str(WINDOW), LEASE_S="600")
    from apps.runs.owners.execution import process_writer
    from benchmarks.processes import Processes

    jobs = QUICK_JOBS if quick else JOBS
    urgent, many, ordinary, short = _run(URGENT), _run(URGENT), _run(ORDINARY), _run(ORDINARY, "short")
    with Processes("valkey", *WORKERS, "orchestrator", folder=folder):
        share = asyncio.run(_short_calls(short))
        _fill(contest.start({"rollouts": WINDOW, "rounds": 12}))
        asked = asyncio.run(_ask(urgent, jobs, AT_ONCE))
        crowded = asyncio.run(_ask(many, 2 * jobs, CROWD))
        ordinary_jobs = asyncio.run(_ask(ordinary, max(AT_ONCE, jobs // 4), AT_ONCE))
    process_writer().close()
    return [
        *_of_the_urgent(asked, crowded),
        Figure(
            "call of another run of the contest's priority: wait, median",
            percentiles([job.wait_s for job in ordinary_jobs])[0],
            "s",
        ),
        Figure("short calls: answers a second, of what all places could give", share, "times", 0.7, "at least"),
        Figure("places of all workers", PLACES * len(WORKERS)),
        Figure("calls that the workers held or that waited in the queue meanwhile, fewest", min(job.crowd for job in asked)),
    ]


def _of_the_urgent(asked: list[_Job], crowded: list[_Job]) -> list[Figure]:
    ratio, late_ratio = percentiles([job.ratio for job in asked])
    wait, late = percentiles([job.wait_s for job in asked])
    engine, _ = percentiles([job.engine_s for job in asked])
    most = f"{CROWD} urgent calls at once: wait ÷ engine time, 95th percentile"
    return [
        Figure("urgent call: wait ÷ its engine time, 95th percentile", late_ratio, "times", 2, "under"),
        Figure("… median", ratio, "times"),
        Figure("… wait, 95th percentile", late, "s"),
        Figure("… wait, median", wait, "s"),
        Figure("… engine time, median", engine, "s"),
        Figure("… at once", AT_ONCE),
        Figure("… calls", len(asked)),
        Figure(most, percentiles([job.ratio for job in crowded])[1], "times", 2, "under"),
        Figure("… calls", len(crowded)),
    ]


def _run(priority: int, alias: str = "contest") -> "Run":
    """A run under a lease of this process."""
    from apps.reasoning.domain.generation import Sampling
    from apps.reasoning.domain.problems import ProblemText
    from apps.reasoning.scaffolds.spec import RoleSpec, RunSpec
    from apps.runs.owners.leases import lease_take
    from benchmarks import stage

    problem = ProblemText(id="bench", version=1, title="A benchmark", statement="Show that $1 + 1 = 2$.")
    roles = {"theorem_verifier": RoleSpec(alias=alias, sampling=Sampling())}
    spec = RunSpec(problem=problem, scaffold="intern_s1_mo", roles=roles, priority=priority)
    run = lease_take(stage.a_run(spec).pk, "benchmark/0/x")
    if run is None:
        raise SystemExit("the benchmark run could not be taken")
    return run


def _fill(run: "Run") -> None:
    """Wait until the run requests votes, thousands at once, and they fill more than all places."""
    until = time.monotonic() + FULL_WITHIN_S
    while run.calls < 2 * WINDOW or _crowd() <= PLACES * len(WORKERS):
        if time.monotonic() > until:
            raise SystemExit(f"the contest run did not fill the workers: {run.calls} calls done, {_crowd()} in progress")
        time.sleep(0.2)
        run.refresh_from_db(fields=["calls"])


def _crowd() -> int:
    """The number of calls that the workers hold or that wait for them."""
    from apps.processes.streams import heartbeats, queue_length, sync_client

    client = sync_client()
    return queue_length(client, "inference.contest") + sum(len(beat["active"]) for beat in heartbeats(client))


@contextlib.asynccontextmanager
async def _context(run: "Run") -> "AsyncIterator[RunContext]":
    """The context through which a scaffold of this run makes calls."""
    from apps.reasoning.scaffolds.running.context import RunContext
    from apps.reasoning.scaffolds.running.controls import NoControls
    from apps.reasoning.scaffolds.spec import RunSpec
    from apps.runs.journal.run_journal import RunJournal
    from apps.runs.owners.execution import celery_dispatcher, process_writer

    journal = await asyncio.to_thread(RunJournal, run, process_writer())
    async with celery_dispatcher(run, journal) as dispatcher:
        yield RunContext(RunSpec.model_validate(run.spec), journal, dispatcher, NoControls(), run=str(run.public_id))


async def _call(context: "RunContext", number: int) -> "Final":
    from apps.reasoning.domain.generation import Message, Place
    from apps.reasoning.ports import Ask

    ask = Ask("theorem_verifier", [Message(role="user", content="Is the lemma true?")], Place(round=1, index=number))
    return await context.generate(f"s0/r1/verify/s0.1/{number + 1}", ask)


async def _short_calls(run: "Run") -> float:
    """Answers a second, as a share of the maximum that all workers' places allow without pauses."""
    async with _context(run) as context:
        await _call(context, SHORT_CALLS)
        began = time.monotonic()
        finals = await asyncio.gather(*(_call(context, number) for number in range(SHORT_CALLS)))
        engine_s = sum(final.duration_s for final in finals)
        return engine_s / (SHORT_PLACES * len(WORKERS)) / (time.monotonic() - began)


async def _ask(run: "Run", jobs: int, at_once: int) -> list[_Job]:
    """Make `jobs` calls of `run` in `at_once` parallel lines, one after the other in each line."""
    found: list[_Job] = []
    async with _context(run) as context:

        async def line(first: int) -> None:
            for number in range(first, jobs, at_once):
                crowd = await asyncio.to_thread(_crowd)
                began = time.monotonic()
                final = await _call(context, number)
                found.append(_Job(max(0.0, time.monotonic() - began - final.duration_s), final.duration_s, crowd))

        await asyncio.gather(*(line(first) for first in range(at_once)))
    return found
