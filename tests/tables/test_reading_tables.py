"""Tables as spreadsheets write them: encodings, separators, formulas, headers, and files that cannot be read."""

import io
import zipfile

import pytest

from apps.files import workbooks
from apps.files.grids import grid_read
from apps.files.tables import FileWrong
from tests.tables.factory import xlsx


@pytest.mark.parametrize(
    ("encoding", "shown"), [("utf-8", "UTF-8"), ("utf-8-sig", "UTF-8"), ("cp1252", "Windows-1252"), ("utf-16", "UTF-16")]
)
def test_each_encoding_of_a_spreadsheet_program_is_read(encoding: str, shown: str) -> None:
    grid = grid_read("Name;Schule\r\nJörg Müller;Gymnasium\r\n".encode(encoding))
    assert grid.rows[0].cells == ("Jörg Müller", "Gymnasium")
    assert f"Encoding {shown}," in grid.notes[0]


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("Name;P1\nAnna;6,5\n", ("Anna", "6,5")),
        ("Name,P1\nAnna,6.5\n", ("Anna", "6.5")),
        ("Name\tP1\nAnna\t6,5\n", ("Anna", "6,5")),
        ("Name;P1 (7,0)\nAnna;6,5\n", ("Anna", "6,5")),
        ('Name,P1\n"Kovács, Anna",7\n', ("Kovács, Anna", "7")),
        ("sep=;\nName;P1\nAnna;7\n", ("Anna", "7")),
        ("sep=\t\r\nName\tP1\r\nAnna\t6,5\r\n", ("Anna", "6,5")),
        ("sep=\\t\nName\tP1\nAnna\t6,5\n", ("Anna", "6,5")),
        ('Name,P1\n="0012","say ""x"""', ("0012", 'say "x"')),
    ],
)
def test_the_separator_is_found(text: str, cells: tuple[str, ...]) -> None:
    assert grid_read(text.encode()).rows[0].cells == cells


def test_lines_are_those_of_the_file_also_after_a_cell_with_line_ends() -> None:
    grid = grid_read(b'Name,Text\nAnna,"one\ntwo\nthree"\n\nBen,x\n')
    assert [(row.line, row.cells[0]) for row in grid.rows] == [(2, "Anna"), (6, "Ben")]


@pytest.mark.parametrize(
    "rows",
    [
        'Anna,"Let x\nBen,b\nCleo,c\n',
        'Anna,"Let x\nBen,"Obvious"\nCleo,c\n',
        'Anna,"Let x" be even\nBen,b\n',
    ],
)
def test_an_unclosed_quotation_mark_is_refused_with_its_line_and_swallows_no_rows(rows: str) -> None:
    with pytest.raises(FileWrong, match=r"The row that begins in line 3 has a quotation mark that is not closed"):
        grid_read(f"Name,Text\nZoe,z\n{rows}".encode())


def test_another_encoding_can_be_chosen_than_the_guessed_one() -> None:
    data = "Name,School\nErdős Pál,Kőszeg\n".encode("cp1250")
    guessed, chosen = grid_read(data), grid_read(data, encoding="cp1250")
    assert (guessed.encoding, guessed.rows[0].cells[0]) == ("cp1252", "Erdõs Pál")
    assert (chosen.encoding, chosen.rows[0].cells) == ("cp1250", ("Erdős Pál", "Kőszeg"))
    with pytest.raises(FileWrong, match="cannot be read as UTF-8"):
        grid_read(data, encoding="utf-8-sig")


def test_a_title_above_the_header_is_skipped() -> None:
    grid = grid_read(b"Camp 2026\n\nName,School,P1\nAnna,North,7\n")
    assert grid.names == ("Name", "School", "P1")
    assert "Skipped above the header: 1 row." in grid.notes


def test_equal_headers_are_numbered_and_a_missing_one_gets_its_position() -> None:
    grid = grid_read(b"Name,P1,P1,\nAnna,3,4,x\n")
    assert grid.names == ("Name", "P1", "P1 [2]", "Column 4")
    assert "Columns of the same name were numbered: P1." in grid.notes


def test_a_row_with_too_many_cells_is_named_and_the_rest_is_read() -> None:
    grid = grid_read(b"Name,P1\nAnna,3,4\nBen,5\nCleo\n")
    assert "3 cells for 2 columns" in grid.rows[0].reason
    assert [row.cells for row in grid.rows[1:]] == [("Ben", "5"), ("Cleo", "")]


def test_a_workbook_is_read_with_its_numbers_and_the_results_of_formulas() -> None:
    grid = grid_read(xlsx(["Name", "P1", "P2"], ["Anna", 6.5, ("=B2+0.5", 7)], ["Ben", 0.1 + 0.2, ""]))
    assert [row.cells for row in grid.rows] == [("Anna", "6.5", "7"), ("Ben", "0.3", "")]
    assert [row.line for row in grid.rows] == [2, 3]


def test_a_formula_without_a_result_and_an_error_are_faults_of_their_cells() -> None:
    data = xlsx(["Name", "P1", "P2"], ["Anna", ("=1+1", ""), ("=1/0", "#DIV/0!")])
    stripped = rewritten(data, "xl/worksheets/sheet1.xml", b"<v></v>", b"")
    faults = grid_read(stripped).rows[0].faults
    assert "formula without a result" in faults[1]
    assert "#DIV/0!" in faults[2]


def test_a_formula_without_a_result_in_a_far_column_is_refused_as_too_wide() -> None:
    data = xlsx(["Name", "P1"], ["Anna", ("=1+1", "")])
    far = rewritten(
        rewritten(data, "xl/worksheets/sheet1.xml", b"<v></v>", b""), "xl/worksheets/sheet1.xml", b'"B2"', b'"ZZZ2"'
    )
    with pytest.raises(FileWrong, match="more than 200 columns"):
        grid_read(far)


def test_numbers_of_thousands_of_digits_in_a_workbook_are_no_numbers() -> None:
    data = xlsx(["Name", "School"], ["Anna", "North"])
    digits = b"1" * 5_000
    rows = rewritten(data, "xl/worksheets/sheet1.xml", b'<row r="2"', b'<row r="' + digits + b'"')
    assert [row.line for row in grid_read(rows).rows] == [2]
    texts = rewritten(data, "xl/worksheets/sheet1.xml", b"<v>3</v>", b"<v>" + digits + b"</v>")
    assert grid_read(texts).rows[0].cells == ("Anna", "")


def test_each_sheet_can_be_chosen_and_an_empty_first_one_is_passed_over() -> None:
    data = xlsx(
        sheets={"Notes": [], "Students": [["Name", "School"], ["Anna", "North"]], "Points": [["Name", "P1"], ["Ben", 3]]}
    )
    first = grid_read(data)
    assert (first.sheet, first.sheets) == ("Students", ("Notes", "Students", "Points"))
    assert grid_read(data, "Points").rows[0].cells == ("Ben", "3")
    with pytest.raises(FileWrong, match="sheet “Notes” is empty"):
        grid_read(data, "Notes")


def test_a_hundred_columns_are_read_and_more_than_the_limit_are_refused() -> None:
    wide = ",".join(f"P{number}" for number in range(1, 100))
    grid = grid_read(f"Name,{wide}\nAnna,{','.join('7' * 99)}\n".encode())
    assert len(grid.names) == 100
    with pytest.raises(FileWrong, match="more than 200 columns"):
        grid_read(("Name" + ",x" * 300 + "\n" + "a,b\n").encode())
    with pytest.raises(FileWrong, match="more than 200 columns"):
        grid_read(xlsx(["a"] * 300, ["b"] * 300))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "The file is empty."),
        (b"\n \n", "The file is empty."),
        (b"Name,School\n", "a header but no rows"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "no table"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600) + "EncryptedPackage".encode("utf-16-le"), "has a password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), r"\(XLS\)"),
        (b"PK\x03\x04 not a zip", "damaged"),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_what_to_do(data: bytes, reason: str) -> None:
    with pytest.raises(FileWrong, match=reason):
        grid_read(data)


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "UNPACKED_BYTES", 1024 * 1024)
    bomb = rewritten(xlsx(["Name"], ["Anna"]), "xl/worksheets/sheet1.xml", b"</worksheet>", b" " * 40_000_000 + b"</worksheet>")
    assert len(bomb) < 100_000
    with pytest.raises(FileWrong, match="larger than 1 MB when unpacked"):
        grid_read(bomb)


def test_a_workbook_with_entities_is_refused() -> None:
    entities = b'<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet'
    with pytest.raises(FileWrong, match="document type"):
        grid_read(rewritten(xlsx(["Name"], ["Anna"]), "xl/worksheets/sheet1.xml", b"<worksheet", entities))


def test_a_damaged_workbook_and_a_zip_that_is_none_are_refused() -> None:
    with pytest.raises(FileWrong, match="not valid XML"):
        grid_read(rewritten(xlsx(["Name"], ["Anna"]), "xl/worksheets/sheet1.xml", b"</worksheet>", b""))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(FileWrong, match="not a workbook"):
        grid_read(out.getvalue())


def rewritten(data: bytes, member: str, old: bytes, new: bytes) -> bytes:
    """A workbook with bytes of a member replaced."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            content = before.read(name)
            after.writestr(name, content.replace(old, new) if name == member else content)
    return out.getvalue()
