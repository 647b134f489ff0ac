"""Parse CSV and JSONL files into numbered records."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from apps.files.csv_files import cell_read
from apps.files.values import RowWrong

FILE_BYTES = 16 * 1024 * 1024
ROWS_AT_MOST = 20_000
_DELIMITERS = ",;\t"
csv.field_size_limit(FILE_BYTES)  # A long cell must not stop reading the file.


class FileWrong(Exception):
    """The file is unusable; the message gives the reason and the next step."""


@dataclass(frozen=True)
class Record:
    """One row or line. `number` counts from 1: rows below the header of a CSV file, or lines of a JSONL file.

    `reason` explains an unreadable record; `values` then contains its readable part.
    """

    number: int
    values: dict[str, Any] = field(default_factory=dict)
    reason: str = ""

    def checked(self) -> dict[str, Any]:
        """The values. Raises `RowWrong` if the record is unreadable."""
        if self.reason:
            raise RowWrong(self.reason)
        return self.values


@dataclass(frozen=True)
class Table:
    """Records of a file, with the names in its header (CSV) or in all lines (JSONL).

    `separator` is the cell separator of a CSV file.
    """

    names: tuple[str, ...]
    records: list[Record]
    is_csv: bool
    separator: str = ""

    @property
    def row_word(self) -> str:
        """Name of a record of this kind of file."""
        return "row" if self.is_csv else "line"


def table_read(data: bytes) -> Table:
    """Parse a file. Raises `FileWrong`."""
    text = _decoded(data)
    first = text.lstrip()[:1]
    if not first:
        raise FileWrong("The file is empty.")
    if first == "[":
        raise FileWrong("This is a JSON list. JSONL has one object per line, without enclosing brackets and separating commas.")
    table = _jsonl(text) if first == "{" else _csv(text)
    if not table.records:
        raise FileWrong("The file has a header but no rows.")
    if len(table.records) > ROWS_AT_MOST:
        raise FileWrong(f"The file has {len(table.records):,} rows; the limit is {ROWS_AT_MOST:,}. Split the file.")
    return table


def _decoded(data: bytes) -> str:
    if len(data) > FILE_BYTES:
        raise FileWrong(f"The file is larger than {FILE_BYTES // 1024**2} MB. Split it into smaller files.")
    if data[:2] in (b"PK", b"\x1f\x8b", b"%P"):
        raise FileWrong("This is not a text file. In a spreadsheet program, save it as CSV (UTF-8).")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileWrong(f"Line {line} is not in UTF-8. Save the file with the encoding UTF-8 and try again.") from error


def _csv(text: str) -> Table:
    delimiter = max(_DELIMITERS, key=text.split("\n", 1)[0].count)
    try:
        rows = list(_filled_rows(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)))
    except csv.Error as error:
        raise FileWrong(f"This is not a CSV file: {error}.") from error
    names = tuple(name.strip() for name in rows[0]) if rows else ()
    if len(names) < 2:
        raise FileWrong("This is neither CSV with a header nor JSONL. See the file formats in the documentation.")
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise FileWrong(f"Duplicate columns in the header: {', '.join(name or '(no name)' for name in doubled)}.")
    lines = ([cell_read(cell) for cell in cells] for cells in rows[1:]) if "'" in text else rows[1:]
    records = [_csv_record(number, names, cells) for number, cells in enumerate(lines, 1)]
    return Table(names, records, is_csv=True, separator=delimiter)


def _filled_rows(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    return (cells for cells in rows if any(cell.strip() for cell in cells))


def _csv_record(number: int, names: tuple[str, ...], cells: list[str]) -> Record:
    values = dict(zip(names, cells, strict=False))
    if len(cells) == len(names):
        return Record(number, values)
    return Record(
        number,
        values,
        f"The row has {len(cells)} cells for {len(names)} columns, so the columns are shifted. "
        "Check for missing or extra separators and quotation marks.",
    )


def _jsonl(text: str) -> Table:
    records = [_json_record(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    names = tuple(dict.fromkeys(name for record in records for name in record.values))
    if not names:
        raise FileWrong(f"No line is a JSON object. Line {records[0].number}: {records[0].reason}")
    return Table(names, records, is_csv=False)


def _json_record(number: int, line: str) -> Record:
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        return Record(number, reason=f"Invalid JSON: {error.msg} at character {error.colno}.")
    except (ValueError, RecursionError):
        return Record(number, reason="Unreadable JSON: a number is too long or brackets are nested too deeply.")
    if not isinstance(values, dict):
        return Record(number, reason="The line is JSON, but not an object in braces.")
    return Record(number, values)
