"""The database journal of gradings without a page: each call is made once and committed before it is used."""

from collections.abc import Iterable, Sequence

from asgiref.sync import sync_to_async

from apps.graders.models import GradingCall
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.memory import InMemoryJournal


class DatabaseJournal(InMemoryJournal):
    """A journal whose records are also rows. Events follow from records and are not written."""

    grading: str

    @classmethod
    async def opened(cls, grading: str) -> "DatabaseJournal":
        """The journal of a grading, with its earlier records."""
        journal = cls.holding(await sync_to_async(_records)(grading))
        journal.grading = grading
        return journal

    async def append(self, record: StepRecord, events: Sequence[tuple[str, Event]] = (), texts: Sequence[str] = ()) -> None:
        if not self.has(record.key):
            await sync_to_async(_write)(self.grading, record)
        await super().append(record, events, texts)

    def has(self, key: str) -> bool:
        """Whether a record exists under `key`. Unlike `recorded`, this does not count as reading it."""
        return any(record.key == key for record in self.records)


def _records(grading: str) -> Iterable[StepRecord]:
    rows = GradingCall.objects.filter(grading=grading).values_list("record", flat=True)
    return [StepRecord.model_validate(row) for row in rows]


def _write(grading: str, record: StepRecord) -> None:
    """Store the first answer to a call; a slower one is discarded."""
    GradingCall.objects.get_or_create(grading=grading, key=record.key, defaults={"record": record.model_dump(mode="json")})
