"""The journal's one writer thread per process: it commits the items of all runs in batches.

Covered: a call is acknowledged only after COMMIT; events of a run are numbered without gaps; every write carries the run's
fence, so an owner that lost its lease cannot write; a commit without confirmation is recognised and not repeated.
Not covered: a disk that lies about fsync.
"""

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from django.db import IntegrityError, OperationalError, connection, transaction
from django.db.utils import InterfaceError
from django.utils import timezone

from apps.processes import metrics
from apps.processes.crash import crash_point
from apps.processes.pace import Pace
from apps.reasoning.domain.errors import FenceLost, JournalUnwritable
from apps.runs.journal.answers import answer
from apps.runs.journal.batch import Announced, Item, NumberedEvent, Plan, texts_of
from apps.runs.journal.captured import TokensUnwritable, tokens_write
from apps.runs.journal.records import values_of
from apps.runs.journal.rows import advance, insert
from apps.runs.journal.savepoints import ConnectionLost, lazy_savepoint
from apps.runs.journal.texts import blob_values
from apps.runs.models import Blob, Run, RunEvent, Step

if TYPE_CHECKING:
    from apps.runs.journal.run_journal import RunJournal

logger = logging.getLogger(__name__)

Sink = Callable[[Run, Sequence[NumberedEvent]], None]
"""Runs in the transaction of the events: a projection of them into rows of its own."""
Announce = Callable[[str, Sequence[Announced]], None]
"""Called after COMMIT with the run's public id, to announce events to readers. May fail; the rows are the truth."""

BATCH_ROWS, BATCH_WAIT_S = 256, 0.002
#: From this many rows per second on, a batch waits longer, because each commit costs the same. At lower rates calls are
#: sequential, and a batch must not wait.
BUSY_ROWS_PER_S, FEW_ROWS = 200, 3
BUSY_WAIT_S, BUSY_WAIT_AT_MOST_S = 0.05, 0.1
RETRY_FOR_S = 60.0


class JournalWriter:
    """The only thread that writes journals. Items are committed in order.

    With `own_thread` false there is no thread, and `write_now` writes in the caller's transaction: for an
    imported run, which has no owner and no watchers.
    """

    def __init__(self, *, sinks: Sequence[Sink] = (), announce: Announce | None = None, own_thread: bool = True) -> None:
        self._queue: queue.SimpleQueue[Item | None] = queue.SimpleQueue()
        self._sinks = sinks
        self._announce = announce
        self._known_blobs: set[str] = set()
        self._pace = Pace()
        self._thread = threading.Thread(target=self._work, name="journal-writer", daemon=True)
        if own_thread:
            self._thread.start()

    def put(self, item: Item) -> None:
        self._queue.put(item)

    def write_now(self, items: Sequence[Item]) -> None:
        """Write `items` at once, without an announcement. Raises `FenceLost` and what the database raises."""
        plans = self._plans(list(items))
        tokens_write(plans)
        lost, _ = self._write(plans)
        if lost:
            raise FenceLost
        for plan in plans:
            plan.journal.last_seq = plan.last_seq

    def close(self) -> None:
        """Commit what is queued and stop."""
        self._queue.put(None)
        self._thread.join(timeout=30)

    def _work(self) -> None:
        stopping, wait_s = False, BATCH_WAIT_S
        while not stopping:
            since = time.monotonic()
            head = self._queue.get()
            if head is None:
                break
            batch, rows, until = [head], 1, time.monotonic() + wait_s
            while rows < BATCH_ROWS:
                try:
                    item = self._queue.get(timeout=max(0.0, until - time.monotonic()))
                except queue.Empty:
                    break
                if stopping := item is None:
                    break
                batch.append(item)
                rows += 1 + len(item.events)
            try:
                self._commit(self._plans(batch))
            except Exception as error:  # The writer thread must not end.
                logger.exception("journal: a batch could not be prepared")
                _give_up(batch, f"The journal refused a write ({type(error).__name__}: {error}).")
            is_busy = rows > FEW_ROWS and rows > BUSY_ROWS_PER_S * (time.monotonic() - since)
            wait_s = self._pace.patience_s(BUSY_WAIT_S, BUSY_WAIT_AT_MOST_S) if is_busy else BATCH_WAIT_S
        connection.close()

    def _commit(self, plans: list[Plan]) -> None:
        """Write one batch and answer every waiting caller. A failure of one run must not stop the others."""
        try:
            self._commit_together(plans)
        except _Unwritable as error:
            for plan in plans:
                _give_up(plan.items, f"The journal cannot be written: {error}. Make room, then resume the run.")
        except Exception as error:
            if len(plans) == 1 and isinstance(error, TokensUnwritable):
                _give_up(plans[0].items, f"The tokens of calls cannot be stored: {error}. Make room, then resume the run.")
                return
            if len(plans) == 1:
                raise
            for plan in plans:
                self._commit_alone(plan)

    def _commit_alone(self, plan: Plan) -> None:
        try:
            self._commit([plan])
        except Exception as error:
            logger.exception("journal: a batch could not be written")
            _give_up(plan.items, f"The journal refused a write ({type(error).__name__}: {error}).")

    def _commit_together(self, plans: list[Plan]) -> None:
        """One transaction, retried while the database is busy or restarting. Raises `_Unwritable` after a timeout."""
        began = time.monotonic()
        tokens_write(plans)
        lost = self._write_until_known(plans, give_up=began + RETRY_FOR_S)
        crash_point("after_commit_before_ack")
        batch = [item for plan in plans for item in plan.items]
        for item in batch:
            if item.journal in lost:
                item.journal.is_lost = True
        answer([item for item in batch if item.journal in lost], FenceLost())
        answer([item for item in batch if item.journal not in lost], None)
        self._publish(plans, lost)
        _count(plans, time.monotonic() - began)

    def _write_until_known(self, plans: list[Plan], *, give_up: float) -> "set[RunJournal]":
        """Write until the commit is confirmed. Returns the journals whose run has another owner.

        A COMMIT without an answer may have succeeded. Before each retry, query the database until it responds: writing
        existing rows again would fail, and the run would look unwritable.
        """
        pause, tries, was_refused = 0.05, 0, False
        while True:
            try:
                if tries and _is_there(plans):
                    return {plan.journal for plan in plans if not _is_ours(plan)}
                tries += 1
                lost, stored = self._write(plans)
                self._remember(stored)
                return lost
            except IntegrityError:
                # The server may have completed an unanswered COMMIT in the meantime; then the rows exist.
                if tries == 1 or was_refused:
                    raise
                was_refused = True
            except (OperationalError, InterfaceError) as error:
                connection.close()
                if "full" in str(error).lower() or "readonly" in str(error).lower() or time.monotonic() > give_up:
                    raise _Unwritable(str(error)) from error
                logger.warning("journal: database not ready (%s), trying again", error)
                time.sleep(pause)
                pause = min(2.0, pause * 2)

    def _plans(self, batch: list[Item]) -> list[Plan]:
        # By journal, not by run: after an expired lease, a process may have journals of the old and the new owner, and items of
        # the old one must not be written under the new fence.
        plans: dict[RunJournal, Plan] = {}
        now = timezone.now()
        for item in batch:
            journal = item.journal
            plan = plans.get(journal)
            if plan is None:
                plan = plans[journal] = Plan(journal, [], journal.last_seq + 1)
            plan.items.append(item)
            for key, event in item.events:
                if key in journal.event_keys:
                    continue
                journal.event_keys.add(key)
                plan.events.append((plan.first_seq + len(plan.events), key, item.at or now, event))
            if item.record is not None:
                plan.steps.append(values_of(item.record, journal.pk, item.at or now))
                self._pace.count(item.record.final.duration_s if item.record.final else 0.0)
        return list(plans.values())

    @transaction.atomic
    def _write(self, plans: list[Plan]) -> "tuple[set[RunJournal], Collection[str]]":
        """One transaction for all runs of the batch. Returns the journals whose fence another owner has moved, and the
        names of texts that the commit stores."""
        lost: set[RunJournal] = set()
        texts: dict[str, str] = {}
        for plan in plans:
            if not _fence_holds(plan):
                lost.add(plan.journal)
                continue
            for item in plan.items:
                texts.update(texts_of(item))
        kept = [plan for plan in plans if plan.journal not in lost]
        new = {sha: text for sha, text in texts.items() if sha not in self._known_blobs}
        insert(Blob, [blob_values(sha, text) for sha, text in new.items()], new_only=True)
        insert(Step, [row for plan in kept for row in plan.steps])
        insert(RunEvent, [row for plan in kept for row in plan.event_rows])
        for plan in kept:
            if plan.insert_tokens is not None:
                plan.insert_tokens()
            for sink in self._sinks if plan.events else ():
                _run_sink(sink, plan)
        return lost, new.keys()

    def _remember(self, stored: Collection[str]) -> None:
        """Remember committed texts, which need not be sent again. A failed COMMIT stores no texts."""
        if len(self._known_blobs) > 200_000:
            self._known_blobs.clear()
        self._known_blobs.update(stored)

    def _publish(self, plans: list[Plan], lost: "set[RunJournal]") -> None:
        for plan in plans:
            if plan.journal in lost or not plan.events:
                continue
            plan.journal.last_seq = plan.last_seq
            if self._announce is not None:
                try:
                    self._announce(plan.journal.public_id, plan.announced)
                except Exception as error:  # Optional: readers find the rows a second later.
                    logger.warning("run %s: could not announce events to readers: %s", plan.journal.public_id, error)


class _Unwritable(Exception):
    """The database rejects all writes."""


def _give_up(items: Sequence[Item], reason: str) -> None:
    """Fail all waiting callers and mark the journals as unwritable, so that their next append fails."""
    error = JournalUnwritable(reason)
    for item in items:
        item.journal.unwritable = error
    answer(items, error)


def _count(plans: list[Plan], seconds: float) -> None:
    metrics.observe("journal_commit_seconds", seconds)
    metrics.observe("journal_batch_rows", sum(len(plan.events) + len(plan.steps) for plan in plans))
    for kind, number in Counter(event.kind for plan in plans for *_, event in plan.events).items():
        metrics.count("events", kind, by=number)


def _fence_holds(plan: Plan) -> bool:
    journal = plan.journal
    return advance(journal.pk, journal.fence, last_seq=plan.last_seq, spent=plan.spent, round_=plan.newest_round)


def _is_there(plans: list[Plan]) -> bool:
    """Whether the batch is in the database. It is one transaction, so one run is enough to decide.

    That run must still be ours, because another owner writes the same keys.
    """
    return any(_is_ours(plan) and _has_rows(plan) for plan in plans)


def _is_ours(plan: Plan) -> bool:
    return Run.objects.filter(pk=plan.journal.pk, fence=plan.journal.fence).exists()


def _has_rows(plan: Plan) -> bool:
    if plan.steps:
        return Step.objects.filter(run_id=plan.journal.pk, key=plan.steps[-1]["key"]).exists()
    return bool(plan.events) and RunEvent.objects.filter(run_id=plan.journal.pk, key=plan.events[-1][1]).exists()


def _run_sink(sink: Sink, plan: Plan) -> None:
    """A projection that fails must not stop the journal: its rows can be rebuilt from the events.

    Raises `OperationalError` where the connection was lost: Django would roll the batch back silently.
    """
    try:
        with lazy_savepoint():
            sink(plan.journal.run, plan.events)
    except ConnectionLost:
        raise
    except Exception:
        logger.exception("run %s: a projection failed; rebuild it with `manage.py rebuild_lemmas`", plan.journal.public_id)
