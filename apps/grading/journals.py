"""The journal of gradings without a page in the database: every call is committed before it is used, and made once."""

from collections.abc import Iterable, Sequence

from asgiref.sync import sync_to_async

from apps.grading.models import GradingCall
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.memory import InMemoryJournal


class DatabaseJournal(InMemoryJournal):
    """A journal whose records are also rows. Events follow from records, so they are not written."""

    grading: str

    @classmethod
    async def opened(cls, grading: str) -> "DatabaseJournal":
        """The journal of a grading, with what was recorded before."""
        journal = cls.holding(await sync_to_async(_records)(grading))
        journal.grading = grading
        return journal

    async def append(self, record: StepRecord, events: Sequence[tuple[str, Event]] = (), texts: Sequence[str] = ()) -> None:
        if not self.has(record.key):
            await sync_to_async(_write)(self.grading, record)
        await super().append(record, events, texts)

    def has(self, key: str) -> bool:
        """Is there a record under `key`? Asking is not reading: what is replayed stays unread."""
        return any(record.key == key for record in self.records)


def _records(grading: str) -> Iterable[StepRecord]:
    rows = GradingCall.objects.filter(grading=grading).values_list("record", flat=True)
    return [StepRecord.model_validate(row) for row in rows]


def _write(grading: str, record: StepRecord) -> None:
    """Who was slower keeps nothing: the first answer to a call is the one that counts."""
    GradingCall.objects.get_or_create(grading=grading, key=record.key, defaults={"record": record.model_dump(mode="json")})
