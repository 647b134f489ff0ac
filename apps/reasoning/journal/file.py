"""The journal of one run in a file: a header, then one record a line, each on the disk before its answer is used.

The file only grows. A last line that a crash cut off is taken away when the file is opened again.
"""

import io
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apps.reasoning.domain.errors import JournalUnwritable, PlanError
from apps.reasoning.domain.records import StepRecord

FORMAT = "lemmascope-run/1"
#: Of a file whose first line a crash cut off.
_BEGINNING = b'{"format"'


def whole_lines(data: bytes) -> list[str]:
    """The lines that have their end. Not `splitlines`: texts hold other characters that end a line."""
    return data[: data.rfind(b"\n") + 1].decode().split("\n")[:-1]


class JournalFile:
    """A file open for adding; `header`, `records`, `texts` (by SHA) and `seconds` are what it held when it was opened.

    `header` is None where there is no file yet: `begin` makes it. `seconds` is the time spent on the run so far. Raises
    `PlanError` for a file that is no journal of a run, or that another process has open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: dict[str, Any] | None = None
        self.records: list[StepRecord] = []
        self.texts: dict[str, str] = {}
        self.seconds = 0.0
        self._file: io.FileIO | None = None
        if path.exists():
            self._file = self._opened("r+")
            try:
                self._read(self._file)
            except BaseException:
                self.close()
                raise

    def begin(self, header: Mapping[str, Any]) -> None:
        """Make the file, where there is none or an empty one. Raises `PlanError` where it cannot be made."""
        self._file = self._file or self._opened("x+")
        self._add({"format": FORMAT, "run": dict(header)})

    def write(self, record: StepRecord, texts: Mapping[str, str], seconds: float) -> None:
        """Add a record with the prompt texts that the file lacks; it is on the disk when this returns.

        Raises `JournalUnwritable`, and leaves the file as it was.
        """
        new = {sha: text for sha, text in texts.items() if sha not in self.texts}
        self._add({"record": record.model_dump(mode="json"), "texts": new, "seconds": round(seconds, 3)})
        self.texts.update(new)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _opened(self, mode: str) -> io.FileIO:
        try:
            file = io.FileIO(self.path, mode)
        except OSError as error:
            raise PlanError("journal", f"{self.path} cannot be opened ({error.strerror}). Name another journal.") from error
        if sys.platform != "win32":
            import fcntl

            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                file.close()
                raise PlanError("journal", f"Another process is writing {self.path}. Wait for it, or name another.") from error
        return file

    def _read(self, file: io.FileIO) -> None:
        data = file.readall()
        number = 1
        try:
            lines = whole_lines(data)
            if not lines and data and not data.startswith(_BEGINNING):
                raise ValueError("no header")
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                if number == 1:
                    self.header = _header(row)
                else:
                    self.records.append(StepRecord.model_validate(row["record"]))
                    self.texts.update(row["texts"])
                    self.seconds = row["seconds"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            text = f"{self.path}, line {number}: this is no journal of a run. Name another file."
            raise PlanError("journal", text) from error
        file.truncate(data.rfind(b"\n") + 1)
        file.seek(0, os.SEEK_END)

    def _add(self, row: Mapping[str, Any]) -> None:
        if self._file is None:
            raise JournalUnwritable(f"{self.path} is closed.")
        end = self._file.tell()
        left = memoryview(json.dumps(row, ensure_ascii=True).encode() + b"\n")
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(end)
            self._file.seek(end)
            message = f"{self.path} cannot be written ({error.strerror}). Make room, then repeat the call to continue."
            raise JournalUnwritable(message) from error


def _header(row: Mapping[str, Any]) -> dict[str, Any]:
    """Raises `ValueError` for a first line that is no header of this format."""
    if row.get("format") != FORMAT or not isinstance(row["run"], dict):
        raise ValueError("no header of a run")
    return row["run"]
