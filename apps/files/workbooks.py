"""Read the cells of an XLSX workbook as text.

A workbook is a ZIP archive of XML, which people upload: members are unpacked in pieces against one limit, and a document type,
which entity bombs need, is refused. A formula counts with the result that its program stored. Dates come as the day numbers
that the file holds.
"""

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from posixpath import join, normpath
from xml.parsers import expat

from apps.files.archives import DAMAGED
from apps.files.tables import ROWS_AT_MOST, FileWrong

UNPACKED_BYTES = 96 * 1024 * 1024
COLUMNS_AT_MOST = 200
_CHUNK = 64 * 1024
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DIGITS = 9
_LETTERS = re.compile(r"[A-Z]{1,3}")
NO_RESULT = "holds a formula without a result. Open the file in a spreadsheet program, save it, and choose it again."
_NOT_A_WORKBOOK = "This is not a workbook that can be read. In a spreadsheet program, save it as XLSX or as CSV (UTF-8)."

Attributes = Mapping[str, str]
Begin = Callable[[str, Attributes], None]
End = Callable[[str, str], None]


@dataclass(frozen=True)
class SheetRow:
    """A row with a value. `number` is that of the spreadsheet program; `cells` by column from 0; `faults`: unreadable cells."""

    number: int
    cells: dict[int, str] = field(default_factory=dict)
    faults: dict[int, str] = field(default_factory=dict)


def old_workbook_refuse(data: bytes) -> None:
    """Raise `FileWrong` for a workbook with a password, and for the format before XLSX: both are OLE files."""
    if not data.startswith(_OLE):
        return
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise FileWrong("The workbook has a password. Save a copy without a password and choose that one.")
    raise FileWrong("This is a file of an old spreadsheet program (XLS). Save it as XLSX or as CSV (UTF-8).")


class Workbook:
    """The sheets of a workbook. Raises `FileWrong`, also while reading, for one that is damaged, hostile or too large."""

    def __init__(self, data: bytes) -> None:
        self._room = UNPACKED_BYTES
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(data))
        except DAMAGED as error:
            raise FileWrong("Could not read the workbook: the file is damaged or incomplete.") from error
        self._names = set(self._archive.namelist())
        if "xl/workbook.xml" not in self._names:
            raise FileWrong(_NOT_A_WORKBOOK)
        self._paths = self._sheet_paths()
        self._texts: list[str] | None = None

    @property
    def sheets(self) -> tuple[str, ...]:
        """The names of the sheets in their order."""
        return tuple(self._paths)

    def rows(self, sheet: str) -> list[SheetRow]:
        """The rows of a sheet that have a value."""
        if self._texts is None:
            self._texts = self._shared_texts()
        reader = _SheetReader(self._texts)
        self._parse(self._paths[sheet], reader.begin, reader.end)
        return reader.rows

    def _sheet_paths(self) -> dict[str, str]:
        targets: dict[str, str] = {}
        named: list[tuple[str, str]] = []

        def relation(tag: str, given: Attributes) -> None:
            if tag == "Relationship":
                target = given.get("Target", "")
                targets[given.get("Id", "")] = target.lstrip("/") if target.startswith("/") else normpath(join("xl", target))

        def sheet(tag: str, given: Attributes) -> None:
            if tag == "sheet":
                key = next((value for name, value in given.items() if name.endswith(" id")), "")
                named.append((given.get("name", ""), key))

        self._parse("xl/_rels/workbook.xml.rels", relation)
        self._parse("xl/workbook.xml", sheet)
        found = {name: targets[key] for name, key in named if targets.get(key) in self._names}
        if not found:
            raise FileWrong(_NOT_A_WORKBOOK)
        return found

    def _shared_texts(self) -> list[str]:
        reader = _TextReader()
        if "xl/sharedStrings.xml" in self._names:
            self._parse("xl/sharedStrings.xml", reader.begin, reader.end)
        return reader.texts

    def _parse(self, path: str, begin: Begin, end: End | None = None) -> None:
        """Parse a member; `end` gets the text of each element that has no element in it."""
        parser = expat.ParserCreate(namespace_separator=" ")
        held: list[str] = []

        def started(tag: str, given: Attributes) -> None:
            held.clear()
            begin(tag.rpartition(" ")[2], given)

        def ended(tag: str) -> None:
            if end is not None:
                end(tag.rpartition(" ")[2], "".join(held))
            held.clear()

        def refused(*_: object) -> None:
            raise FileWrong("Nothing was read: the workbook has a document type, which no spreadsheet program writes.")

        parser.StartElementHandler, parser.EndElementHandler = started, ended
        parser.CharacterDataHandler = held.append
        parser.StartDoctypeDeclHandler = refused
        parser.buffer_text = True
        try:
            for chunk in self._chunks(path):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise FileWrong("Could not read the workbook: a part of it is not valid XML.") from error

    def _chunks(self, path: str) -> Iterator[bytes]:
        try:
            with self._archive.open(path) as stream:
                while chunk := stream.read(_CHUNK):
                    self._room -= len(chunk)
                    if self._room < 0:
                        most = UNPACKED_BYTES // 1024**2
                        raise FileWrong(f"The workbook is larger than {most} MB when unpacked. Save the sheet as CSV (UTF-8).")
                    yield chunk
        except KeyError as error:
            raise FileWrong(_NOT_A_WORKBOOK) from error
        except DAMAGED as error:
            raise FileWrong("Could not read the workbook: the file is damaged or has a password.") from error


class _TextReader:
    """The texts that cells share. Readings of Japanese words (`rPh`) are no part of them."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._parts: list[str] = []
        self._in_reading = False

    def begin(self, tag: str, _: Attributes) -> None:
        if tag == "si":
            self._parts = []
        self._in_reading = self._in_reading or tag == "rPh"

    def end(self, tag: str, text: str) -> None:
        if tag == "t" and not self._in_reading:
            self._parts.append(text)
        elif tag == "rPh":
            self._in_reading = False
        elif tag == "si":
            self.texts.append("".join(self._parts))


class _SheetReader:
    """The rows of one sheet."""

    def __init__(self, texts: list[str]) -> None:
        self.rows: list[SheetRow] = []
        self._texts = texts
        self._row = SheetRow(0)
        self._column = -1
        self._kind = ""
        self._value: str | None = None
        self._has_formula = False

    def begin(self, tag: str, given: Attributes) -> None:
        if tag == "row":
            before = self.rows[-1].number if self.rows else 0
            number = given.get("r", "")
            self._row = SheetRow(_count_of(number, before + 1))
            self._column = -1
        elif tag == "c":
            letters = _LETTERS.match(given.get("r", ""))
            self._column = _column_of(letters[0]) if letters else self._column + 1
            self._kind, self._value, self._has_formula = given.get("t", "n"), None, False
        elif tag == "f":
            self._has_formula = True

    def end(self, tag: str, text: str) -> None:
        if tag == "v":
            self._value = text
        elif tag == "t":
            self._value = (self._value or "") + text
        elif tag == "c":
            self._keep()
        elif tag == "row" and (self._row.cells or self._row.faults):
            if len(self.rows) > ROWS_AT_MOST:
                raise FileWrong(f"The sheet has more than {ROWS_AT_MOST:,} rows. Split it.")
            self.rows.append(self._row)

    def _keep(self) -> None:
        if self._value is None and not self._has_formula:
            return
        if self._column >= COLUMNS_AT_MOST:
            raise FileWrong(f"The sheet has more than {COLUMNS_AT_MOST} columns. Remove those that are not needed.")
        if self._value is None:
            self._row.faults[self._column] = NO_RESULT
        elif self._kind == "e":
            self._row.faults[self._column] = f"shows the error {self._value[:20]}. Correct it in the spreadsheet program."
        elif self._kind == "s":
            index = _count_of(self._value, len(self._texts))
            self._row.cells[self._column] = self._texts[index] if index < len(self._texts) else ""
        elif self._kind == "b":
            self._row.cells[self._column] = "TRUE" if self._value == "1" else "FALSE"
        else:
            self._row.cells[self._column] = _number_text(self._value) if self._kind == "n" else self._value


def _count_of(word: str, otherwise: int) -> int:
    """A number of a row or text; Python refuses to read one of thousands of digits."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= _DIGITS else otherwise


def _column_of(letters: str) -> int:
    """The index from 0 of a column named by letters: A is 0, AA is 26."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


def _number_text(value: str) -> str:
    """A number as a person would type it: 0.30000000000000004 is 0.3."""
    try:
        return format(float(value), ".15g") if "." in value or "E" in value or "e" in value else value
    except ValueError:
        return value
