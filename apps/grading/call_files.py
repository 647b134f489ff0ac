"""The journal of gradings that have no page: every call of every script, line by line in one file, durable before it is used.

A process that is killed and started again with the same file makes no recorded call again.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import ValidationError

from apps.problems.importing.files import FileWrong
from apps.reasoning.domain.events import Event
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.file import whole_lines
from apps.reasoning.journal.memory import InMemoryJournal


def lines_kept(path: Path) -> list[str]:
    """The whole lines of a file; a last line that was cut off by a crash is taken away. None where there is no file."""
    if not path.exists():
        return []
    data = path.read_bytes()
    if data and not data.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(data.rfind(b"\n") + 1)
    return whole_lines(data)


class CallFile:
    """The file, open for adding. `journal(run)` is the journal of one grading, with what was recorded before."""

    def __init__(self, path: Path, ended: frozenset[str] = frozenset()) -> None:
        """`ended` are gradings that are not made again: their calls are not loaded. Raises `FileWrong`."""
        self._found: dict[str, list[StepRecord]] = {}
        for number, line in enumerate(lines_kept(path), 1):
            try:
                row = json.loads(line)
                if row["run"] not in ended:
                    self._found.setdefault(row["run"], []).append(StepRecord.model_validate(row["record"]))
            except (ValueError, KeyError, TypeError, ValidationError) as error:
                raise FileWrong(f"{path.name}, line {number}: this is no recorded call.") from error
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
        """Add a record; it is on the disk when this returns."""
        self._file.write(json.dumps({"run": run, "record": record.model_dump(mode="json")}, ensure_ascii=True) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())


class FileJournal(InMemoryJournal):
    """A journal whose records are also lines of a `CallFile`. Events follow from records, so they are not written."""

    run: str
    file: CallFile

    async def append(self, record: StepRecord, events: Sequence[tuple[str, Event]] = (), texts: Sequence[str] = ()) -> None:
        if self.recorded(record.key) is None:
            self.file.write(self.run, record)
        await super().append(record, events, texts)

    def has(self, key: str) -> bool:
        """Is there a record under `key`? Asking is not reading: what is replayed stays unread."""
        return any(record.key == key for record in self.records)
