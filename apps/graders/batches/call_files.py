"""The journal of gradings without a page: one file with a line per call, written durably before the answer is used.

A process restarted with the same file repeats no recorded call.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from apps.files.tables import FileWrong
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.file import whole_lines
from apps.reasoning.journal.memory import InMemoryJournal


def lines_kept(path: Path) -> list[str]:
    """The complete lines of a file; a last line cut off by a crash is removed. An absent file has no lines."""
    if not path.exists():
        return []
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(data.rfind(b"\n") + 1)
    return whole_lines(data)


class CallFile:
    """The file, open for appending. `journal(run)` is the journal of one grading, with its earlier records."""

    def __init__(self, path: Path, ended: frozenset[str] = frozenset()) -> None:
        """Load all calls except those of the `ended` gradings. Raises `FileWrong`."""
        self._found: dict[str, list[StepRecord]] = {}
        for number, line in enumerate(lines_kept(path), 1):
            try:
                row = json.loads(line)
                if row["run"] not in ended:
                    self._found.setdefault(row["run"], []).append(StepRecord.model_validate(row["record"]))
            except (ValueError, KeyError, TypeError, ValidationError) as error:
                raise FileWrong(
                    f"{path.name}, line {number}: not a recorded call, so nothing was graded. Name another file of calls."
                ) from error
        self._file = path.open("a", encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def journal(self, run: str) -> "FileJournal":
        """The journal of a grading."""
        journal = FileJournal.holding(self._found.pop(run, []))
        journal.run, journal.file = run, self
        return journal

    def write(self, run: str, record: StepRecord) -> None:
        """Append a record; it is on disk when this returns."""
        self._file.write(json.dumps({"run": run, "record": record.model_dump(mode="json")}, ensure_ascii=True) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


class FileJournal(InMemoryJournal):
    """A journal whose records are also written to a `CallFile`. Events follow from records and are not written."""

    run: str
    file: CallFile

    async def append(self, record: StepRecord, events: Sequence[tuple[str, Event]] = (), texts: Sequence[str] = ()) -> None:
        if self.recorded(record.key) is None:
            self.file.write(self.run, record)
        await super().append(record, events, texts)

    def has(self, key: str) -> bool:
        """Whether a record exists under `key`. Unlike `recorded`, this does not count as reading it."""
        return any(record.key == key for record in self.records)
