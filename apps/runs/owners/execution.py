"""Drives one run from lease to end: journal → scaffold → outcome. See docs/life_of_a_run.md.

Used by the orchestrator's task and, without a broker, by `manage.py explore`.
"""

import asyncio
import contextlib
import functools
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from django.conf import settings
from django.utils.module_loading import import_string

from apps.processes import garbage, metrics
from apps.processes.logs import bind
from apps.processes.loops import new_event_loop, small_event_loop
from apps.processes.streams import sync_client
from apps.processes.threads import from_thread, in_thread
from apps.reasoning.domain.errors import FenceLost, NeedsFork, ReasoningError, RunCancelled, RunHalted
from apps.reasoning.domain.events import Event, RunFailed, RunFinished, RunResumed, RunStarted
from apps.reasoning.domain.events import RunCancelled as RunCancelledEvent
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.inference.aliases import load_served
from apps.reasoning.ports import Dispatcher
from apps.reasoning.scaffolds.running.context import RunContext
from apps.reasoning.scaffolds.running.formula_checks import FormulaChecks
from apps.reasoning.scaffolds.scaffold import prompts_have_changed
from apps.reasoning.scaffolds.spec import RunSpec
from apps.reasoning.trying.registry import RUNNABLE
from apps.runs.calls.dispatch import CeleryDispatcher
from apps.runs.calls.sending import stop_calls
from apps.runs.journal.batch import Announced
from apps.runs.journal.records import LoadedRecords
from apps.runs.journal.run_journal import JournalWriter, RunJournal, Sink
from apps.runs.live.tail import announce_events
from apps.runs.models import REWARD, ROLLOUT, Run, RunStatus
from apps.runs.owners.controls import DatabaseControls, GatedDispatcher
from apps.runs.owners.leases import lease_release, lease_take, owner_name, run_close
from apps.runs.owners.searches import SearchDispatcher

logger = logging.getLogger(__name__)

T = TypeVar("T")
#: Longest wait of a run with its outcome for running formula checks: a guard that is not reached with texts of usual length,
#: even on a busy machine.
LAST_CHECKS_S = 60.0
#: Additional wait for the selected proof.
SELECTED_CHECK_S = 60.0
#: From this many records on, a replay takes a second, and its objects are excluded from later collections.
MANY_CALLS = 5_000
_driving: "set[asyncio.Task[Any]]" = set()
_stopping = threading.Event()

DispatcherFor = Callable[[Run, RunJournal], contextlib.AbstractAsyncContextManager[Dispatcher]]


def event_sinks() -> list[Sink]:
    """Sinks that run in the transaction of the events, in order: the run's status, then the projections of settings.py."""
    return [import_string(name) for name in ("apps.runs.journal.status.follow", *settings.RUN_EVENT_SINKS)]


@functools.cache
def process_writer() -> JournalWriter:
    """The one journal writer of this process."""
    return JournalWriter(sinks=event_sinks(), announce=_announce)


def _announce(run: str, events: Sequence[Announced]) -> None:
    announce_events(sync_client(), run, events)


@contextlib.asynccontextmanager
async def celery_dispatcher(run: Run, journal: RunJournal) -> AsyncIterator[Dispatcher]:
    """A dispatcher that sends calls to the inference workers over the broker."""
    async with CeleryDispatcher(str(run.public_id), queues=_queues(), is_recorded=journal.has) as dispatcher:
        yield dispatcher


@contextlib.asynccontextmanager
async def tool_dispatcher(run: Run) -> AsyncIterator[Dispatcher]:
    """A dispatcher for tool calls about an ended run, whose journal they do not enter."""
    async with CeleryDispatcher(str(run.public_id), queues=_queues(), is_recorded=lambda _: False) as dispatcher:
        yield dispatcher


def _queues() -> dict[str, str]:
    """By alias, the queue of its calls."""
    served = load_served(settings.MODELS_FILE)
    return {name: alias.queue for name, alias in served.items() if settings.SANDBOX != "off" or not alias.is_tool}


def run_drive(
    run_pk: int, *, dispatcher_for: DispatcherFor = celery_dispatcher, writer: JournalWriter | None = None
) -> RunStatus | None:
    """Drive a run until it ends.

    1. Take the lease; return None if another owner is alive. 2. Load the journal. 3. Run the scaffold: recorded calls are
    not repeated. 4. Write the last event, then the final state, then release the lease. The journal is always kept; a failed
    run can be resumed.
    """
    run = from_thread(lease_take, run_pk, owner_name())
    if run is None:
        return None
    metrics.count("runs_driven")
    try:
        status, reason = _driven(run, writer or process_writer(), dispatcher_for)
    except asyncio.CancelledError:
        logger.info("run %s: released, this process is stopping", run.public_id)
        from_thread(lease_release, run.pk, run.fence)
        return None
    except FenceLost:
        metrics.count("fences_lost")
        logger.warning("run %s: another owner has taken it over", run.public_id)
        return None
    except RunHalted as halt:
        # The journal could not be written; the state row may be writable once there is room.
        status, reason = RunStatus.FAILED, str(halt)
    except BaseException:
        from_thread(lease_release, run.pk, run.fence)
        raise
    if not from_thread(run_close, run.pk, run.fence, status, reason=reason):
        return None
    metrics.count("runs_ended", status)
    logger.info("run %s: %s %s", run.public_id, status, reason)
    return status


def _driven(run: Run, writer: JournalWriter, dispatcher_for: DispatcherFor) -> tuple[RunStatus, str]:
    """Drive the run and return its ending. Garbage collection is off while a large journal is read and replayed."""
    with garbage.held() if run.calls > MANY_CALLS else contextlib.nullcontext(lambda: None) as let_go:
        journal = RunJournal(run, writer) if run.calls > MANY_CALLS else from_thread(RunJournal, run, writer)
        logger.info("run %s: driving it under fence %d, %d records", run.public_id, run.fence, journal.replayable)
        loop = small_event_loop if run.preset in (ROLLOUT, REWARD) else new_event_loop
        with asyncio.Runner(loop_factory=loop) as runner:
            return runner.run(_tracked(_drive(run, journal, dispatcher_for, let_go)))


async def _tracked(drive: Coroutine[Any, Any, T]) -> T:
    """Run a drive so that `drives_stop` can end it."""
    task = asyncio.ensure_future(drive)
    if _stopping.is_set():
        task.cancel()
    _driving.add(task)
    metrics.move("runs", 1)
    try:
        return await task
    finally:
        metrics.move("runs", -1)
        _driving.discard(task)


def drives_stop() -> None:
    """Release all runs of this process at once; the next owners continue from their journals."""
    _stopping.set()
    for task in list(_driving):
        task.get_loop().call_soon_threadsafe(task.cancel)


async def _drive(
    run: Run, journal: RunJournal, dispatcher_for: DispatcherFor, on_replayed: Callable[[], None]
) -> tuple[RunStatus, str]:
    """The program, its lease and its last event. Raises `FenceLost`, and `RunHalted` if the journal cannot be written."""
    bind(run=str(run.public_id), fence=run.fence)
    if run.fence == 1:
        journal.emit(RunStarted.kind, RunStarted(owner=run.lease_owner, fence=run.fence))
    else:
        resumed = RunResumed(owner=run.lease_owner, fence=run.fence, replayed=journal.replayable)
        journal.emit(f"run.resumed/{run.fence}", resumed)
    journal.on_replayed = on_replayed
    status, reason, last = await _result(run, journal, dispatcher_for)
    # A failed run may be resumed and end again, so the key includes the owner's fence.
    journal.emit(f"{last.kind}/{run.fence}", last)
    await journal.flush()
    return status, reason


async def _result(run: Run, journal: RunJournal, dispatcher_for: DispatcherFor) -> tuple[RunStatus, str, Event]:
    """The ending of the run, with its last event."""
    try:
        outcome = await _solve(run, journal, dispatcher_for)
    except FenceLost:
        raise
    except RunCancelled as error:
        await in_thread(stop_calls, str(run.public_id))
        return RunStatus.CANCELLED, str(error), RunCancelledEvent(reason=str(error))
    except NeedsFork as error:
        advice = "Fork the run: the fork takes over what was recorded and still fits."
        return RunStatus.NEEDS_FORK, str(error), RunFailed(reason=str(error), advice=advice)
    except ReasoningError as error:
        advice = "Everything recorded is kept. Remove the cause, then resume the run."
        return RunStatus.FAILED, str(error), RunFailed(reason=str(error), advice=advice)
    except Exception as error:
        logger.exception("run %s: the scaffold failed", run.public_id)
        reason = f"The scaffold stopped on an internal error ({type(error).__name__}: {error})."
        return RunStatus.FAILED, reason, RunFailed(reason=reason, advice="Please report it with the run's export.")
    last = RunFinished(accepted=outcome.accepted, proof=outcome.proof, reason=outcome.reason, ended_by=outcome.ended_by)
    return RunStatus.FINISHED, outcome.reason, last


async def _solve(run: Run, journal: RunJournal, dispatcher_for: DispatcherFor) -> Outcome:
    spec = RunSpec.model_validate(run.spec)
    scaffold = RUNNABLE[spec.scaffold]
    params = scaffold.read_params(spec.params)
    if journal.replayable and prompts_have_changed(spec.prompt_hashes, scaffold.prompts_of(params)):
        raise NeedsFork("The prompts of this scaffold have changed since the run was made.")
    inherited = await in_thread(_inherited, run)
    controls = DatabaseControls(run, journal, renew_every_s=settings.LEASE_RENEW_S)
    async with dispatcher_for(run, journal) as dispatcher:
        gated = GatedDispatcher(SearchDispatcher(dispatcher, run), controls)
        checks = FormulaChecks(spec.problem.statement, journal, gated, run=str(run.public_id), priority=spec.priority)
        context = RunContext(
            spec,
            journal,
            gated,
            controls,
            run=str(run.public_id),
            window=controls.window,
            inherited=inherited,
            observe=checks.observe,
        )
        program = asyncio.ensure_future(scaffold.solve(spec.problem, context, params))
        watch = asyncio.ensure_future(controls.watch())
        try:
            await asyncio.wait({program, watch}, return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                watch.result()
            outcome = await program
            await checks.settle(LAST_CHECKS_S, SELECTED_CHECK_S)
            await controls.conclude(outcome)
            return outcome
        finally:
            for task in (program, watch):
                task.cancel()
            await asyncio.gather(program, watch, return_exceptions=True)
            await checks.close()


def _inherited(run: Run) -> Callable[[str], Any] | None:
    return LoadedRecords(run.forked_from).take if run.forked_from is not None else None
