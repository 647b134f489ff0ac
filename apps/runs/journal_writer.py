"""The journal's one writer thread per process: it commits what all runs of the process append, in groups.

Covered: a call is acknowledged only after COMMIT; events of a run are numbered without gaps; every write carries the run's
fence, so an owner that lost its lease cannot write; a commit whose answer was lost is recognised and not repeated.
Not covered: a disk that lies about fsync.
"""

import asyncio
import functools
import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import OperationalError, connection, transaction
from django.db.utils import DatabaseError, InterfaceError
from django.utils import timezone

from apps.reasoning.domain.errors import FenceLost, JournalUnwritable
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.keys import sha_of
from apps.runs import metrics
from apps.runs.crash import crash_point
from apps.runs.journal_answers import answer
from apps.runs.models import Blob, Run, RunEvent, Step
from apps.runs.records import values_of
from apps.runs.rows import advance, insert
from apps.runs.selectors import EventRow
from apps.runs.texts import blob_values

if TYPE_CHECKING:
    from apps.runs.journal import RunJournal

logger = logging.getLogger(__name__)

NumberedEvent = tuple[int, str, datetime, Event]
Sink = Callable[[Run, Sequence[NumberedEvent]], None]
"""Runs in the transaction of the events: a projection of them into rows of its own."""
Announce = Callable[[str, Sequence[EventRow]], None]
"""Called after COMMIT with the run's public id: tells readers that there is news. May fail; the rows are the truth."""

BATCH_ROWS = 256
BATCH_WAIT_S = 0.002
RETRY_FOR_S = 60.0


@dataclass
class Item:
    """What one call of a `RunJournal` appends."""

    journal: "RunJournal"
    events: Sequence[tuple[str, Event]] = ()
    record: StepRecord | None = None
    texts: Sequence[str] = ()
    done: "asyncio.Future[None] | None" = None
    at: datetime | None = None
    """When it happened, where that is not now: what was recorded elsewhere keeps its times."""


@dataclass
class _Plan:
    """What one batch writes for one run."""

    journal: "RunJournal"
    items: list[Item]
    first_seq: int
    events: list[NumberedEvent] = field(default_factory=list)
    steps: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def last_seq(self) -> int:
        return self.first_seq + len(self.events) - 1

    @functools.cached_property
    def event_rows(self) -> list[EventRow]:
        return [
            {"seq": seq, "key": key, "kind": event.kind, "at": at.isoformat(), "body": event.model_dump(mode="json")}
            for seq, key, at, event in self.events
        ]

    @property
    def stored_events(self) -> list[Mapping[str, Any]]:
        """`event_rows` with the columns that only the table has."""
        pk = self.journal.pk
        return [{**row, "run_id": pk, "at": at} for row, (_, _, at, _) in zip(self.event_rows, self.events, strict=True)]


class JournalWriter:
    """The one thread that writes journals. Items are committed in the order they were put.

    With `own_thread` false there is no thread, and `write_now` writes in the caller's transaction: for a run that is read
    from a file, which nobody drives and nobody watches.
    """

    def __init__(self, *, sinks: Sequence[Sink] = (), announce: Announce | None = None, own_thread: bool = True) -> None:
        self._queue: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._sinks = sinks
        self._announce = announce
        self._known_blobs: set[str] = set()
        self._thread = threading.Thread(target=self._work, name="journal-writer", daemon=True)
        if own_thread:
            self._thread.start()

    def put(self, item: Item) -> None:
        self._queue.put(item)

    def write_now(self, items: Sequence[Item]) -> None:
        """Write `items` at once, without telling anybody. Raises `FenceLost` and what the database raises."""
        plans = self._plans(list(items))
        if self._write(plans):
            raise FenceLost
        for plan in plans:
            plan.journal.last_seq = plan.last_seq

    def close(self) -> None:
        """Commit what is queued and stop."""
        self._queue.put(None)
        self._thread.join(timeout=30)

    def _work(self) -> None:
        stopping = False
        while not stopping:
            head = self._queue.get()
            if head is None:
                break
            batch, rows, until = [head], 1, time.monotonic() + BATCH_WAIT_S
            while rows < BATCH_ROWS:
                try:
                    item = self._queue.get(timeout=max(0.0, until - time.monotonic()))
                except queue.Empty:
                    break
                if item is None:
                    stopping = True
                    break
                batch.append(item)
                rows += 1 + len(item.events)
            self._commit(batch)
        connection.close()

    def _commit(self, batch: list[Item]) -> None:
        """Write one batch, retrying while the database is busy or restarting; answer every waiting caller."""
        plans = self._plans(batch)
        began = time.monotonic()
        give_up = began + RETRY_FOR_S
        pause = 0.05
        while plans:
            try:
                lost = self._write(plans)
                break
            except (OperationalError, InterfaceError) as error:
                connection.close()
                if "full" in str(error).lower() or "readonly" in str(error).lower() or time.monotonic() > give_up:
                    answer(batch, JournalUnwritable(f"The journal cannot be written: {error}. Make room, then resume the run."))
                    return
                logger.warning("journal: database not ready (%s), trying again", error)
                time.sleep(pause)
                pause = min(2.0, pause * 2)
                plans = self._still_unwritten(plans)
            except DatabaseError as error:
                logger.exception("journal: a batch could not be written")
                answer(batch, JournalUnwritable(f"The journal refused a write: {error}."))
                return
        else:
            lost = set()
        crash_point("after_commit_before_ack")
        for item in batch:
            if item.journal.pk in lost:
                item.journal.is_lost = True
        answer([item for item in batch if item.journal.pk in lost], FenceLost())
        answer([item for item in batch if item.journal.pk not in lost], None)
        self._publish(plans, lost)
        _count(plans, time.monotonic() - began)

    def _plans(self, batch: list[Item]) -> list[_Plan]:
        plans: dict[int, _Plan] = {}
        now = timezone.now()
        for item in batch:
            journal = item.journal
            plan = plans.get(journal.pk)
            if plan is None:
                plan = plans[journal.pk] = _Plan(journal, [], journal.last_seq + 1)
            plan.items.append(item)
            for key, event in item.events:
                if key in journal.event_keys:
                    continue
                journal.event_keys.add(key)
                plan.events.append((plan.first_seq + len(plan.events), key, item.at or now, event))
            if item.record is not None:
                plan.steps.append(values_of(item.record, journal.pk, item.at or now))
        return list(plans.values())

    @transaction.atomic
    def _write(self, plans: list[_Plan]) -> set[int]:
        """One transaction for all runs of the batch. Returns the keys of runs whose fence another owner has moved."""
        lost: set[int] = set()
        texts: dict[str, str] = {}
        for plan in plans:
            if not _fence_holds(plan):
                lost.add(plan.journal.pk)
                continue
            for item in plan.items:
                texts.update(_texts_of(item))
        kept = [plan for plan in plans if plan.journal.pk not in lost]
        new = {sha: text for sha, text in texts.items() if sha not in self._known_blobs}
        insert(Blob, [blob_values(sha, text) for sha, text in new.items()], new_only=True)
        insert(Step, [row for plan in kept for row in plan.steps])
        insert(RunEvent, [row for plan in kept for row in plan.stored_events])
        for plan in kept:
            for sink in self._sinks if plan.events else ():
                _run_sink(sink, plan)
        self._known_blobs.update(new)
        if len(self._known_blobs) > 200_000:
            self._known_blobs.clear()
        return lost

    def _still_unwritten(self, plans: list[_Plan]) -> list[_Plan]:
        """The batch is one transaction, so either all of it is there or nothing is."""
        if not any(self._was_committed(plan) for plan in plans):
            return plans
        for plan in plans:
            plan.journal.last_seq = plan.last_seq
        return []

    def _was_committed(self, plan: _Plan) -> bool:
        """After a lost answer: is this plan in the database already?"""
        try:
            if plan.steps:
                return Step.objects.filter(run_id=plan.journal.pk, key=plan.steps[-1]["key"]).exists()
            return bool(plan.events) and RunEvent.objects.filter(run_id=plan.journal.pk, key=plan.events[-1][1]).exists()
        except DatabaseError:
            connection.close()
            return False

    def _publish(self, plans: list[_Plan], lost: set[int]) -> None:
        for plan in plans:
            if plan.journal.pk in lost or not plan.events:
                continue
            plan.journal.last_seq = plan.last_seq
            if self._announce is not None:
                try:
                    self._announce(plan.journal.public_id, plan.event_rows)
                except Exception:  # Announcing is a courtesy; readers find the rows by themselves.
                    logger.debug("journal: readers could not be told", exc_info=True)


def _count(plans: list[_Plan], seconds: float) -> None:
    metrics.observe("journal_commit_seconds", seconds)
    metrics.observe("journal_batch_rows", sum(len(plan.events) + len(plan.steps) for plan in plans))
    for kind, number in Counter(event.kind for plan in plans for *_, event in plan.events).items():
        metrics.count("events", kind, by=number)


def _fence_holds(plan: _Plan) -> bool:
    finals = [item.record.final for item in plan.items if item.record and item.record.was_asked and item.record.final]
    return advance(
        plan.journal.pk,
        plan.journal.fence,
        last_seq=plan.last_seq,
        calls=sum(1 for item in plan.items if item.record and item.record.was_asked),
        prompt_tokens=sum(final.usage.prompt for final in finals),
        completion_tokens=sum(final.usage.completion for final in finals),
    )


def _texts_of(item: Item) -> dict[str, str]:
    """The texts of an item under their names: prompt parts, which the record names already, and what the model wrote."""
    record = item.record
    if record is None:
        return {}
    texts = dict(zip(record.prompt_shas, item.texts, strict=True)) if item.texts else {}
    if record.final is not None:
        texts.update({sha_of(text): text for text in (record.final.text, record.final.reasoning) if text})
    return texts


def _run_sink(sink: Sink, plan: _Plan) -> None:
    """A projection that fails must not stop the journal: its rows can be rebuilt from the events."""
    try:
        with transaction.atomic():
            sink(plan.journal.run, plan.events)
    except Exception:
        logger.exception("run %s: a projection failed; rebuild it with `manage.py rebuild_lemmas`", plan.journal.public_id)
