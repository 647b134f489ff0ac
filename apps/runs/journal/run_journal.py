"""The durable journal of one run for the core. `JournalWriter` commits its items."""

import asyncio
import time
from collections.abc import Callable, Sequence

from apps.reasoning.domain.errors import FenceLost, JournalUnwritable
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.records import Spent, StepRecord
from apps.runs.journal.batch import Item, NumberedEvent
from apps.runs.journal.records import LoadedRecords
from apps.runs.journal.rows import plain
from apps.runs.journal.writer import JournalWriter, Sink
from apps.runs.models import Run, RunEvent
from apps.runs.selectors import use_by_alias

__all__ = ["JournalWriter", "NumberedEvent", "RunJournal", "Sink"]


class RunJournal:
    """The `Journal` port over the database, for one run under one fence. Create it in a thread, before the event loop starts.

    `on_replayed` is called when a replay has read the last record, and for every new record.
    """

    def __init__(self, run: Run, writer: JournalWriter) -> None:
        self.run = run
        self.pk = run.pk
        self.public_id = str(run.public_id)
        self.fence = run.fence
        self.last_seq = run.last_seq
        self.is_lost = False
        self.unwritable: JournalUnwritable | None = None
        self.event_keys = {key for (key,) in plain(RunEvent, run.pk, ["key"])}
        self._writer = writer
        self.on_replayed: Callable[[], None] = lambda: None
        self._loaded = LoadedRecords(run)
        self.replayable = len(self._loaded)
        self._appended: set[str] = set()
        self._begun: set[str] = set()
        self._calls = run.calls
        self._tokens = run.tokens
        self._seconds = run.active_seconds
        self._by_alias = use_by_alias(run) if run.budget.get("money") else {}
        self._since = time.monotonic()

    def recorded(self, key: str) -> StepRecord | None:
        record = self._loaded.take(key)
        if record is not None:
            self._appended.add(key)
            if not self.unread:
                self.on_replayed()
        return record

    def has(self, key: str) -> bool:
        """Whether the call is durable, so that its result on the stream may be deleted."""
        return key in self._appended or key in self._loaded

    @property
    def unread(self) -> int:
        return len(self._loaded)

    @property
    def spent(self) -> Spent:
        seconds = self._seconds + time.monotonic() - self._since
        return Spent(calls=self._calls, tokens=self._tokens, seconds=seconds, by_alias=self._by_alias)

    async def append(self, record: StepRecord, events: Sequence[tuple[str, Event]] = (), texts: Sequence[str] = ()) -> None:
        if record.key in self._begun or self.has(record.key):
            await self.flush()  # A second row would violate the constraint and stop the run.
            return
        self._begun.add(record.key)
        self.on_replayed()
        await self._put(Item(self, events, record, texts))
        self._appended.add(record.key)
        if record.was_asked:
            self._calls += 1
            self._tokens += record.usage.prompt + record.usage.completion
            self._by_alias = Spent(by_alias=self._by_alias).use_with(record)

    def emit(self, key: str, event: Event) -> None:
        if key not in self.event_keys:
            self._writer.put(Item(self, [(key, event)]))

    async def flush(self) -> None:
        await self._put(Item(self))

    async def _put(self, item: Item) -> None:
        if self.is_lost:
            raise FenceLost
        if self.unwritable is not None:
            raise self.unwritable
        item.done = asyncio.get_running_loop().create_future()
        self._writer.put(item)
        await item.done
