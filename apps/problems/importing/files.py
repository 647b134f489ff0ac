"""From the bytes of a file to numbered records of text. Knows CSV and JSONL, nothing about problems."""

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from apps.ui.csv_files import cell_read

FILE_BYTES = 16 * 1024 * 1024
ROWS_AT_MOST = 20_000
_DELIMITERS = ",;\t"
csv.field_size_limit(FILE_BYTES)  # A long cell is one wrong row, not the end of the file.


class FileWrong(Exception):
    """Nothing can be taken from this file; the message says why and what to do."""


@dataclass(frozen=True)
class Record:
    """One row or line. `number` counts rows under the heading of a CSV file, lines of a JSONL file, from 1.

    `reason` says why it could not be read; then `values` holds what could be.
    """

    number: int
    values: dict[str, Any] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Table:
    """The records of a file and the names that its heading, or all its lines together, give them.

    `separator` stands between the cells of a CSV file.
    """

    names: tuple[str, ...]
    records: list[Record]
    is_csv: bool
    separator: str = ""


def table_read(data: bytes) -> Table:
    """Read a file. Raises `FileWrong`."""
    text = _decoded(data)
    first = text.lstrip()[:1]
    if not first:
        raise FileWrong("The file is empty.")
    if first == "[":
        raise FileWrong("This is a JSON list. JSONL has one object a line, without brackets and commas around them.")
    table = _jsonl(text) if first == "{" else _csv(text)
    if not table.records:
        raise FileWrong("The file has a heading and no row.")
    if len(table.records) > ROWS_AT_MOST:
        raise FileWrong(f"The file has {len(table.records):,} rows; at most {ROWS_AT_MOST:,} go in at once. Split it.")
    return table


def _decoded(data: bytes) -> str:
    if len(data) > FILE_BYTES:
        raise FileWrong(f"The file is larger than {FILE_BYTES // 1024**2} MB. Split it.")
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
        raise FileWrong("This is neither CSV with a heading nor JSONL. The manual of formats shows what a file looks like.")
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise FileWrong(f"The heading has a column twice: {', '.join(name or '(no name)' for name in doubled)}.")
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
        f"It has {len(cells)} cells under {len(names)} headings, so that its columns are shifted: "
        "a separator or a quotation mark is missing or too many.",
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
        return Record(number, reason=f"This is not JSON: {error.msg} at character {error.colno}.")
    except (ValueError, RecursionError):
        return Record(number, reason="This is not JSON that can be read: a number is too long or brackets are too deep.")
    if not isinstance(values, dict):
        return Record(number, reason="This is JSON, but not an object in braces.")
    return Record(number, values)
