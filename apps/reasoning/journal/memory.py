"""A journal in memory, for tests, dry runs and the contract that the durable journal also fulfils."""

import functools
from collections.abc import Iterable, Sequence
from typing import Self

from apps.reasoning.domain.events import Event
from apps.reasoning.domain.records import Spent, StepRecord
from apps.reasoning.journal.keys import sha_of


class InMemoryJournal:
    """Keep records, events and prompt texts of one run in lists. Implements `ports.Journal`.

    `events` holds `(seq, key, event)`; `seq` counts from 1 without a gap. Events and records with a known key are ignored.
    """

    def __init__(self) -> None:
        self.events: list[tuple[int, str, Event]] = []
        self.texts: dict[str, str] = {}
        self._records: dict[str, StepRecord] = {}
        self._unread: set[str] = set()
        self._event_keys: set[str] = set()
        self._events_at: list[int] = []
        self._spent = Spent()

    @classmethod
    def holding(cls, records: Iterable[StepRecord]) -> Self:
        """A journal opened with these records, none of which was read yet."""
        journal = cls()
        journal._records = {record.key: record for record in records}
        journal._unread = set(journal._records)
        journal._spent = functools.reduce(_with, journal._records.values(), Spent())
        return journal

    @property
    def records(self) -> tuple[StepRecord, ...]:
        """All records, in the order they were committed."""
        return tuple(self._records.values())

    @property
    def unread(self) -> int:
        return len(self._unread)

    @property
    def spent(self) -> Spent:
        return self._spent

    def recorded(self, key: str) -> StepRecord | None:
        self._unread.discard(key)
        return self._records.get(key)

    async def append(self, record: StepRecord, events: Sequence[tuple[str, Event]] = (), texts: Sequence[str] = ()) -> None:
        if record.key in self._records:
            return
        self._records[record.key] = record
        self._spent = _with(self._spent, record)
        self.texts.update({sha_of(text): text for text in texts if text})
        for key, event in events:
            self.emit(key, event)
        self._events_at.append(len(self.events))

    def emit(self, key: str, event: Event) -> None:
        if key not in self._event_keys:
            self._event_keys.add(key)
            self.events.append((len(self.events) + 1, key, event))

    async def flush(self) -> None:
        return None

    def cut(self, records: int) -> "InMemoryJournal":
        """The journal after its first `records` records, as a process killed there leaves it."""
        kept = InMemoryJournal()
        kept.texts = dict(self.texts)
        kept._records = dict(list(self._records.items())[:records])
        kept._unread = set(kept._records)
        kept._spent = functools.reduce(_with, kept._records.values(), Spent())
        kept._events_at = self._events_at[:records]
        kept.events = self.events[: kept._events_at[-1]] if kept._events_at else []
        kept._event_keys = {key for _, key, _ in kept.events}
        return kept


def _with(spent: Spent, record: StepRecord) -> Spent:
    """What was spent with one more record; time is that of the calls, one after the other."""
    if not record.was_asked:
        return spent
    return Spent(
        calls=spent.calls + 1,
        tokens=spent.tokens + record.usage.prompt + record.usage.completion,
        seconds=spent.seconds + (record.final.duration_s if record.final else 0.0),
        by_alias=spent.use_with(record),
    )
