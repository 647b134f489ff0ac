"""Tables as people have them: CSV, TSV and XLSX with a header, in the encodings and with the separators of spreadsheets.

`tables` reads files in a known format strictly; here the person who uploads looks at what was read.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice

from apps.files.archives import is_archive
from apps.files.csv_files import cell_read
from apps.files.tables import FILE_BYTES, ROWS_AT_MOST, FileWrong
from apps.files.workbooks import COLUMNS_AT_MOST, Workbook, old_workbook_refuse

#: In the order of preference: with semicolons or tabs, a comma is often that of decimals.
_SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas", "|": "vertical bars"}
#: Encodings by their name in Python, in words. The first are tried in this order where none was chosen.
ENCODINGS = {
    "utf-8-sig": "UTF-8",
    "cp1252": "Windows-1252 (Western European)",
    "cp1250": "Windows-1250 (Central European)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "cp1254": "Windows-1254 (Turkish)",
    "mac_roman": "Mac Roman",
    "utf-16": "UTF-16",
}
_TRIED = ("utf-8-sig", "cp1252", "cp1250")
_LOOKED_AT = 30
_TITLE_ROWS = 5
#: The first line with which Excel names the separator: the sign itself, or `\t` for a tab.
_NAMED_SEPARATOR = re.compile(r"sep=(\\t|[^\r\n]?)[ ]*(?:\r\n|\r|\n|\Z)", re.IGNORECASE)


@dataclass(frozen=True)
class GridRow:
    """A row below the header. `line`: of the file, or the row of the sheet; `faults`: why a cell cannot be read, by column.

    `reason` explains a row whose cells are shifted.
    """

    line: int
    cells: tuple[str, ...]
    faults: Mapping[int, str] = field(default_factory=dict)
    reason: str = ""


@dataclass(frozen=True)
class Grid:
    """A table. `names` are unique and not empty; `notes` say how the file was read.

    `sheets` is empty for a text file, `encoding` (a key of `ENCODINGS`) for a workbook.
    """

    names: tuple[str, ...]
    rows: list[GridRow]
    notes: tuple[str, ...] = ()
    sheets: tuple[str, ...] = ()
    sheet: str = ""
    encoding: str = ""

    def column(self, index: int) -> list[str]:
        """The filled cells of a column."""
        return [cell for row in self.rows if (cell := row.cells[index])]


def grid_read(data: bytes, sheet: str = "", encoding: str = "") -> Grid:
    """Read a table; an empty `sheet` is the first one that has rows, an empty `encoding` the first one that fits.

    Raises `FileWrong` with what to do.
    """
    if not data.strip():
        raise FileWrong("The file is empty.")
    if len(data) > FILE_BYTES:
        raise FileWrong(f"The file is larger than {FILE_BYTES // 1024**2} MB. Split it into smaller files.")
    old_workbook_refuse(data)
    return _workbook_grid(data, sheet) if is_archive(data) else _text_grid(data, encoding)


def _workbook_grid(data: bytes, sheet: str) -> Grid:
    book = Workbook(data)
    wanted = [sheet] if sheet in book.sheets else book.sheets
    for name in wanted:
        rows = [
            (row.number, [row.cells.get(i, "").strip() for i in range(max((*row.cells, *row.faults)) + 1)], row.faults)
            for row in book.rows(name)
        ]
        if len(rows) > 1 or name == wanted[-1]:
            notes = (f"Sheet “{name}”.",) if len(book.sheets) > 1 else ()
            return _grid(rows, notes, book.sheets, name)
    raise FileWrong("The workbook has no sheet with rows.")


def _text_grid(data: bytes, encoding: str) -> Grid:
    text, encoding = _decoded(data, encoding)
    if named := _NAMED_SEPARATOR.match(text):
        text, skipped = text[named.end() :], 1
        separator = {"": ",", "\\t": "\t"}.get(named[1].lower(), named[1])
    else:
        separator, skipped = _separator_of(text), 0
    if separator not in _SEPARATORS:
        raise FileWrong("The first line names a separator that is not supported. Save the file with commas or semicolons.")
    rows = _text_rows(text, separator, skipped)
    note = f"Encoding {ENCODINGS[encoding].partition(' (')[0]}, cells separated by {_SEPARATORS[separator]}."
    return replace(_grid(rows, (note,)), encoding=encoding)


def _text_rows(text: str, separator: str, skipped: int) -> list[tuple[int, list[str], dict[int, str]]]:
    """The rows below `skipped` lines. Strict: otherwise a cell with an unclosed quotation mark swallows the rows below it."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[tuple[int, list[str], dict[int, str]]] = []
    before = 0
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((before + 1 + skipped, [_cell(cell) for cell in cells], {}))
            before = reader.line_num
            if len(rows) > ROWS_AT_MOST + 1:
                raise FileWrong(f"The file has more than {ROWS_AT_MOST:,} rows. Split it.")
    except csv.Error as error:
        raise FileWrong(
            f"The row that begins in line {before + 1 + skipped} has a quotation mark that is not closed, or a sign after a "
            "closing one, so the rows below it would be lost. Correct that row: a cell in quotation marks ends with one, and a "
            "quotation mark inside it is doubled."
        ) from error
    return rows


def _decoded(data: bytes, chosen: str) -> tuple[str, str]:
    """The text of a file and its encoding, the chosen one if there is one. Raises `FileWrong`."""
    guesses = ("utf-16",) if data[:2] in (b"\xff\xfe", b"\xfe\xff") else _TRIED
    for encoding in (chosen,) if chosen in ENCODINGS else guesses:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" in text:
            break
        return text, encoding
    if chosen in ENCODINGS:
        raise FileWrong(f"The file cannot be read as {ENCODINGS[chosen]}. Choose another encoding.")
    raise FileWrong(
        "This is no table: its characters are unreadable. In a spreadsheet program, save it as XLSX or CSV (UTF-8)."
    )


def _separator_of(text: str) -> str:
    """The separator with which the first rows have more than one cell and most often the same number of them."""

    def score(separator: str) -> tuple[bool, float, int]:
        try:
            rows = list(islice(csv.reader(io.StringIO(text, newline=""), delimiter=separator), _LOOKED_AT))
        except csv.Error:
            return (False, 0.0, 0)
        widths = [len(row) for row in rows if row]
        width = max(widths, default=0)
        return (width > 1, sum(one == width for one in widths) / max(len(widths), 1), width)

    return max(_SEPARATORS, key=score)


def _cell(text: str) -> str:
    """A cell without surrounding white space and without our guard against formulas; `="0012"` is the text that it protects."""
    text = cell_read(text).strip().replace("\r\n", "\n")
    return text[2:-1] if text.startswith('="') and text.endswith('"') and '"' not in text[2:-1] else text


def _grid(
    rows: list[tuple[int, list[str], dict[int, str]]],
    notes: tuple[str, ...],
    sheets: tuple[str, ...] = (),
    sheet: str = "",
) -> Grid:
    """The table below its header. One filled cell above a wider row is a title and is skipped."""
    first = _header_index([cells for _, cells, _ in rows[: _TITLE_ROWS + 1]])
    if first:
        notes = (*notes, f"Skipped above the header: {first} {'row' if first == 1 else 'rows'}.")
    if not rows[first:]:
        raise FileWrong("The file is empty." if not sheet else f"The sheet “{sheet}” is empty. Choose another one.")
    header = rows[first][1]
    below = rows[first + 1 :]
    if not below:
        raise FileWrong("The table has a header but no rows.")
    width = len(header)
    while width and not header[width - 1] and all(len(cells) < width or not cells[width - 1] for _, cells, _ in below):
        width -= 1
    if width > COLUMNS_AT_MOST:
        raise FileWrong(f"The table has more than {COLUMNS_AT_MOST} columns. Remove those that are not needed.")
    names, doubled = _unique(header[:width])
    if doubled:
        notes = (*notes, f"Columns of the same name were numbered: {', '.join(doubled)}.")
    return Grid(names, [_row(line, cells, faults, width) for line, cells, faults in below], notes, sheets, sheet)


def _row(line: int, cells: list[str], faults: dict[int, str], width: int) -> GridRow:
    reason = ""
    if any(cells[width:]):
        reason = f"The row has {len(cells)} cells for {width} columns, so the columns are shifted. Check separators and quotes."
    return GridRow(line, tuple(cells[:width]) + ("",) * (width - len(cells)), faults, reason)


def _header_index(rows: list[list[str]]) -> int:
    filled = [sum(1 for cell in cells if cell) for cells in rows]
    for index, count in enumerate(filled):
        if count > 1 or max(filled[index:], default=0) < 3:
            return index
    return 0


def _unique(names: Iterable[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names in one line, numbered where they are equal, and the equal ones."""
    used: dict[str, int] = {}
    doubled: dict[str, None] = {}
    unique: list[str] = []
    for position, name in enumerate(names, 1):
        name = " ".join(name.split())[:200] or f"Column {position}"
        used[name] = used.get(name, 0) + 1
        if used[name] > 1:
            doubled[name] = None
            name = f"{name} [{used[name]}]"
        unique.append(name)
    return tuple(unique), list(doubled)
