"""Checks the formulas of imported runs, with the code of the checks of our own runs, in the orchestrator.

All state is in the database: each batch of checks is kept when it ends, and what a killed process began is made again.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import islice

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.lemmas.later.models import LaterCheck, LaterChecks
from apps.lemmas.models import LemmaText
from apps.processes.loops import new_event_loop
from apps.reasoning.domain.check_events import FormulaChecksOff, FormulasChecked
from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.ports import Dispatcher
from apps.reasoning.scaffolds.running.formula_checks import FormulaChecks, subject_of
from apps.reasoning.story.vocabulary import event_from
from apps.runs.models import IMPORTED, Run, RunEvent
from apps.runs.owners.execution import tool_dispatcher

logger = logging.getLogger(__name__)
CHECKED = frozenset({Kind.LEMMA_PROPOSED, Kind.PROOF_DRAFTED, Kind.CANDIDATE_DRAFTED})
#: Texts whose checks are kept together.
AT_ONCE = 40
#: Longest wait for a batch. Counts of operations limit its checks to far less.
BATCH_S = 1_800.0
#: After this long without an end, a job is begun again: its process died, or the sandbox was off.
AGAIN_AFTER = timedelta(minutes=10)

DispatcherFor = Callable[[Run], contextlib.AbstractAsyncContextManager[Dispatcher]]


def later_checks_ask(run: Run) -> None:
    """Let the formulas of an imported run be checked. Asking again has no effect."""
    LaterChecks.objects.get_or_create(run=run)


def later_checks_work(dispatcher_for: DispatcherFor = tool_dispatcher) -> int:
    """Check all waiting runs; returns their number. Runs imported by an older version are asked for first."""
    for run in Run.objects.filter(preset=IMPORTED, later_checks=None):
        later_checks_ask(run)
    count = 0
    while (job := _claimed()) is not None:
        _job_do(job, dispatcher_for)
        count += 1
    return count


def _claimed() -> LaterChecks | None:
    """The oldest job that no process is at, claimed for this one."""
    now = timezone.now()
    free = Q(begun_at=None) | Q(begun_at__lt=now - AGAIN_AFTER)
    for job in LaterChecks.objects.filter(free, ended_at=None).select_related("run")[:8]:
        if LaterChecks.objects.filter(free, pk=job.pk, ended_at=None).update(begun_at=now):
            return job
    return None


def _job_do(job: LaterChecks, dispatcher_for: DispatcherFor) -> None:
    run = job.run
    for batch in _batches(run):
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            found, off = runner.run(_checked(run, batch, dispatcher_for))
        _keep(job, found)
        if off:
            LaterChecks.objects.filter(pk=job.pk).update(reason=off)
            logger.warning("run %s: the check after the import waits: %s", run.public_id, off)
            return
    LaterChecks.objects.filter(pk=job.pk).update(ended_at=timezone.now(), reason="")


def _batches(run: Run) -> Iterator[list[Event]]:
    """The events with texts that have no check yet, in batches."""
    done = set(LaterCheck.objects.filter(run=run).values_list("subject", flat=True))
    rows = list(RunEvent.objects.filter(run=run, kind__in=CHECKED).order_by("seq").values_list("kind", "body"))
    events = (event_from(kind, body) for kind, body in rows)
    wanted = (event for event in events if (subject := subject_of(event)) is not None and subject.id not in done)
    while batch := list(islice(wanted, AT_ONCE)):
        yield batch


async def _checked(run: Run, batch: list[Event], dispatcher_for: DispatcherFor) -> tuple[list[FormulasChecked], str]:
    """The checks of a batch, and the reason why the sandbox is off, or ""."""
    journal = InMemoryJournal()
    async with dispatcher_for(run) as dispatcher:
        statement = str(run.spec["problem"]["statement"])
        checks = FormulaChecks(statement, journal, dispatcher, run=str(run.public_id))
        for event in batch:
            checks.observe(event)
        await checks.settle(BATCH_S, 0)
    events = [event for _, _, event in journal.events]
    off = next((event.reason for event in events if isinstance(event, FormulaChecksOff)), "")
    # The record of a check is not kept, so nothing leads to its call.
    found = [event.model_copy(update={"call": ""}) for event in events if isinstance(event, FormulasChecked)]
    return found, off


def _keep(job: LaterChecks, found: list[FormulasChecked]) -> None:
    """Keep the checks, note their outcomes for the search of lemmas, and renew the claim."""
    with transaction.atomic():
        for one in found:
            body = one.model_dump(mode="json")
            LaterCheck.objects.update_or_create(run=job.run, subject=one.subject, defaults={"body": body})
            LemmaText.objects.filter(run=job.run, lemma__lemma=one.subject).update(finding=one.outcome)
        LaterChecks.objects.filter(pk=job.pk).update(begun_at=timezone.now())
