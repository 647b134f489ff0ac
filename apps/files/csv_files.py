"""The only writer of CSV files: spreadsheets compute none of its cells, and our import reads it back.

Spreadsheets compute a cell that begins with a sign such as `=`. Such a cell gets a leading apostrophe, which Excel and
LibreOffice treat as the mark of text. `cell_read` removes it again.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

_NUMBER = re.compile(r"-[0-9]{1,15}(\.[0-9]{1,15})?")
_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def csv_lines(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """Yield the header and each row. A missing value is an empty cell; only texts are escaped, so numbers stay numbers."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, names, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        yield _emptied(buffer)
        writer.writerow({name: cell(value) if isinstance(value, str) else value for name, value in row.items()})
    yield _emptied(buffer)


def cell(text: str) -> str:
    """A cell that no spreadsheet evaluates as a formula. A plain number stays a number, with its minus."""
    return f"'{text}" if text.startswith(_SIGNS) and not _NUMBER.fullmatch(text) else text


def cell_read(text: str) -> str:
    """Undo `cell`. Other leading apostrophes stay, as in files from elsewhere."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(_SIGNS) else text


def _emptied(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
