"""Plan of an import: each row of a file is a draft to import, or is skipped with a reason."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from apps.files.tables import Table
from apps.files.values import RowWrong

DraftT = TypeVar("DraftT")
Source = tuple[str, Callable[[], DraftT]]
"""The place of a row in its file, and the function that reads it or raises `RowWrong`."""


@dataclass(frozen=True)
class Good(Generic[DraftT]):
    """A row to import."""

    where: str
    draft: DraftT


@dataclass(frozen=True)
class Skipped:
    """A skipped row; `label` is its id or title if readable."""

    where: str
    reason: str
    label: str = ""


@dataclass
class Plan(Generic[DraftT]):
    """The preview of an import, in the order of the file."""

    good: list[Good[DraftT]] = field(default_factory=list)
    wrong: list[Skipped] = field(default_factory=list)

    def add(self, where: str, read: Callable[[], DraftT], label: str = "") -> None:
        """Read one row; record the reason if it cannot be imported."""
        try:
            self.good.append(Good(where, read()))
        except RowWrong as wrong:
            self.wrong.append(Skipped(where, str(wrong), label))


def table_sources(table: Table, read: Callable[[dict[str, Any]], DraftT]) -> Iterator[Source[DraftT]]:
    """The rows of a table, such as `row 3`; an unreadable record raises its reason."""
    for record in table.records:
        yield f"{table.row_word} {record.number}", lambda record=record: read(record.checked())  # type: ignore[misc]
