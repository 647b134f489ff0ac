"""The journal of a caller's run: it reports every event immediately and can keep records in a file."""

import functools
import time
from collections.abc import Callable, Sequence
from hashlib import sha256

from apps.reasoning.domain.control import Command
from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.records import Spent, StepRecord
from apps.reasoning.journal.file import JournalFile
from apps.reasoning.journal.keys import sha_of
from apps.reasoning.journal.memory import InMemoryJournal
from apps.reasoning.scaffolds.running.calling import call_began, call_ending


class ProgressJournal(InMemoryJournal):
    """Implements `ports.Journal`. A resumed run reports the events of recorded calls again, so that its story is complete.

    Its seconds are the time that this process and earlier ones worked on the run.
    """

    def __init__(self, file: JournalFile | None = None, listener: Callable[[Event], None] | None = None) -> None:
        super().__init__()
        self._file = file
        self._listener = listener
        self._began = time.monotonic() - (file.seconds if file else 0.0)
        if file is not None:
            loaded = InMemoryJournal.holding(file.records)
            self._records, self._unread, self._spent = loaded._records, loaded._unread, loaded._spent
            self.texts = dict(file.texts)

    @property
    def spent(self) -> Spent:
        return self._spent.model_copy(update={"seconds": time.monotonic() - self._began})

    def recorded(self, key: str) -> StepRecord | None:
        is_new = key in self._unread
        record = super().recorded(key)
        if record is not None and is_new and record.kind == "call":
            self.emit(f"{key}/began", call_began(key, record.role, record.alias, record.place))
            for name, event in call_ending(record):
                self.emit(name, event)
        return record

    async def append(self, record: StepRecord, events: Sequence[tuple[str, Event]] = (), texts: Sequence[str] = ()) -> None:
        if self._file is not None and record.key not in self._records:
            self._file.write(record, {sha_of(text): text for text in texts if text}, self.spent.seconds)
        await super().append(record, events, texts)

    def emit(self, key: str, event: Event) -> None:
        is_new = key not in self._event_keys
        super().emit(key, event)
        if is_new and self._listener is not None:
            self._listener(event)


class GivenHints:
    """Implements `ports.Controls`: the caller's hints wait for the first control point. Those recorded are not given again."""

    def __init__(self, hints: Sequence[str], records: Sequence[StepRecord]) -> None:
        taken = {command["id"] for record in records for command in (record.value or {}).get("commands", [])}
        self._waiting = [command for hint in hints if (command := _hint(hint)).id not in taken]

    async def take(self) -> Sequence[Command]:
        due, self._waiting = self._waiting, []
        return due


@functools.cache
def _hint(text: str) -> Command:
    """A hint has its text's name, so that the same one is the same command in a later process."""
    return Command(id=f"hint-{sha256(text.encode()).hexdigest()[:16]}", name="hint", by="caller", args={"text": text})
