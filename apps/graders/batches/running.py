"""Grade many scripts: the first one of each problem alone, so that others reuse its pieces; then all concurrently."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from asgiref.sync import sync_to_async
from django.conf import settings

from apps.graders.batches.call_files import CallFile
from apps.graders.batches.jobs import Job
from apps.graders.pieces import Pieces, piece_keep, pieces_known
from apps.graders.planning.plans import RUN_LENGTH, GradingPlan, run_name
from apps.graders.planning.settings import digest_of
from apps.processes.local import http_backend
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.grading_events import GradingPrepared, GradingReached
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.domain.spending import Spending, spending_recorded
from apps.reasoning.graders.grader import FINAL
from apps.reasoning.graders.grading import Grading
from apps.reasoning.inference.aliases import TOOLS, Alias
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.ports import Dispatcher, Journal
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.controls import NoControls
from apps.reasoning.scaffolds.running.window import Window
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.calls.dispatch import CeleryDispatcher

logger = logging.getLogger(__name__)
#: Maximum number of pending calls of one grading.
WINDOW = 16


class GradingJournal(Journal, Protocol):
    """A journal of one grading, in a file or in the database, that is read when the grading has ended."""

    @property
    def events(self) -> Sequence[tuple[int, str, Event]]: ...

    @property
    def records(self) -> tuple[StepRecord, ...]: ...

    def has(self, key: str) -> bool:
        """Whether a record exists under `key`."""
        ...


DispatcherFor = Callable[[str, GradingJournal], AbstractAsyncContextManager[Dispatcher]]


@dataclass(frozen=True)
class Done:
    """A graded script with result and cost. `reused`: number of pieces that existed before."""

    job: Job
    run: str
    grading: Grading
    spent: Spending
    seconds: float
    reused: int


async def grade_all(
    plan: GradingPlan,
    jobs: Sequence[Job],
    calls: CallFile,
    dispatcher_for: DispatcherFor,
    on_done: Callable[[Done], None],
    *,
    at_once: int = 8,
) -> None:
    """Grade every script and pass each result to `on_done`.

    Raises `RunHalted` for causes that stop all calls (no server, a wrong key); recorded calls are reused at the next start.
    """
    slots = asyncio.Semaphore(at_once)
    by_problem: dict[str, list[Job]] = {}
    for job in jobs:
        by_problem.setdefault(job.problem.statement, []).append(job)

    async def one(job: Job, pieces: Pieces) -> None:
        async with slots:
            journal = calls.journal(run_name(plan.spec(job, pieces)))
            on_done(await graded(plan, job, journal, dispatcher_for, pieces))

    async def problem(statement: str, first: Job, others: Iterable[Job]) -> None:
        pieces = await sync_to_async(pieces_known)(statement, plan.roles)
        await one(first, pieces)
        async with asyncio.TaskGroup() as group:
            for other in others:
                group.create_task(one(other, pieces))

    async with asyncio.TaskGroup() as group:
        for statement, (first, *others) in by_problem.items():
            group.create_task(problem(statement, first, others))


async def graded(plan: GradingPlan, job: Job, journal: GradingJournal, dispatcher_for: DispatcherFor, pieces: Pieces) -> Done:
    """Grade one script with its journal; store its pieces and add them to `pieces`.

    Raises `RunHalted` if no call is possible; recorded calls are kept.
    """
    spec = plan.spec(job, pieces)
    name = run_name(spec)
    async with dispatcher_for(name, journal) as dispatcher:
        context = RunContext(spec, journal, dispatcher, NoControls(), run=f"grade-{name}", window=Window(WINDOW))
        await plan.grader.solve(spec.problem, context, plan.params(job, pieces))
    reused = await _keep_pieces(spec, journal, pieces)
    grading = next(
        Grading.model_validate(event.grading)
        for _, _, event in reversed(journal.events)
        if isinstance(event, GradingReached) and event.name == FINAL
    )
    return Done(job, name, grading, spending_recorded(journal.records), journal.spent.seconds, reused)


def ungraded(plan: GradingPlan, job: Job, reason: str) -> Done:
    """The result of a script that cannot be graded: unscored, without a call."""
    name = digest_of([plan.workflow, job.paper, job.problem.id, reason])[:RUN_LENGTH]
    return Done(job, name, Grading(workflow=plan.workflow, unscored=reason), Spending(), 0.0, 0)


async def _keep_pieces(spec: RunSpec, journal: GradingJournal, pieces: Pieces) -> int:
    """Store the pieces of this grading and add them to `pieces`; return the number of reused ones."""
    reused = 0
    for _, _, event in journal.events:
        if isinstance(event, GradingPrepared):
            reused += event.is_cached
            if event.piece not in pieces:
                pieces[event.piece] = event.value
                await sync_to_async(piece_keep)(spec.problem.statement, event, spec.roles)
    return reused


@asynccontextmanager
async def model_servers(aliases: Iterable[Alias]) -> AsyncIterator[DispatcherFor]:
    """Send calls from this process to the model servers of the aliases."""
    wanted = {alias.name: alias for alias in aliases}
    backends = {name: http_backend(alias) for name, alias in wanted.items()}
    shared = LocalDispatcher(backends, concurrency={name: alias.concurrency for name, alias in wanted.items()})

    @asynccontextmanager
    async def one(_run: str, _journal: GradingJournal) -> AsyncIterator[Dispatcher]:
        yield shared

    try:
        yield one
    finally:
        for backend in backends.values():
            await backend.close()


@asynccontextmanager
async def workers(aliases: Iterable[Alias]) -> AsyncIterator[DispatcherFor]:
    """Send calls through the queues of the running stack, those of formula checks included."""
    tools = TOOLS.values() if settings.SANDBOX != "off" else ()
    queues = {alias.name: alias.queue for alias in (*aliases, *tools)}

    @asynccontextmanager
    async def one(run: str, journal: GradingJournal) -> AsyncIterator[Dispatcher]:
        async with CeleryDispatcher(f"grade-{run}", queues=queues, is_recorded=journal.has) as dispatcher:
            yield dispatcher

    yield one
