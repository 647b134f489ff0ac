"""The one writer of CSV files: the spreadsheet that opens one computes none of its cells, and our import reads it back.

A spreadsheet computes a cell that begins with a sign such as `=`. Such a cell gets an apostrophe before it, which Excel and
LibreOffice know as the mark of text. `cell_read` takes it away again.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

_NUMBER = re.compile(r"-[0-9]{1,15}(\.[0-9]{1,15})?")
_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def csv_lines(names: Sequence[str], rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """The heading, then each row. A missing value is an empty cell; only texts are guarded, so numbers stay numbers."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, names, restval="", lineterminator="\n")
    writer.writeheader()
    for row in rows:
        yield _emptied(buffer)
        writer.writerow({name: cell(value) if isinstance(value, str) else value for name, value in row.items()})
    yield _emptied(buffer)


def cell(text: str) -> str:
    """A cell that no spreadsheet takes for a formula. A plain number stays one, with its minus."""
    return f"'{text}" if text.startswith(_SIGNS) and not _NUMBER.fullmatch(text) else text


def cell_read(text: str) -> str:
    """What `cell` was given. Apostrophes before anything else stay, as other people's files have them."""
    return text[1:] if text[:1] == "'" and text[1:].startswith(_SIGNS) else text


def _emptied(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
