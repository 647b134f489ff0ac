"""Exported tables have no cells that a spreadsheet computes, and are read back unchanged; other apostrophes stay."""

import csv
import io

import pytest

from apps.files.csv_files import cell, cell_read, csv_lines
from apps.files.tables import table_read

SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝")


@pytest.mark.parametrize("text", ["=1+1", "+a", "-D1", "@x", "'quoted", "''", "'=x", "plain", "", "\tx", "\nx", "＝1", "a=b"])
def test_cells_are_read_back_unchanged(text: str) -> None:
    assert cell_read(cell(text)) == text
    assert not cell(text).startswith(SIGNS)


def test_a_negative_number_stays_a_number_and_a_sum_does_not() -> None:
    assert [cell("-768"), cell("-1.5"), cell("-2+3"), cell("-1\n")] == ["-768", "-1.5", "'-2+3", "'-1\n"]


def test_another_leading_apostrophe_stays() -> None:
    assert cell_read("'Tis known that $n$ is odd.") == "'Tis known that $n$ is odd."


def test_a_table_is_written_row_by_row_and_read_again() -> None:
    rows: list[dict[str, object]] = [
        {"name": "=HYPERLINK()", "points": -1.5, "words": 'with "quotes",\nand lines'},
        {"name": "plain"},
    ]
    lines = list(csv_lines(("name", "points", "words"), rows))
    assert len(lines) == 3
    assert lines[0] == "name,points,words\n"
    written = "".join(lines)
    assert next(csv.DictReader(io.StringIO(written)))["name"] == "'=HYPERLINK()"
    assert [record.values for record in table_read(written.encode()).records] == [
        {"name": "=HYPERLINK()", "points": "-1.5", "words": 'with "quotes",\nand lines'},
        {"name": "plain", "points": "", "words": ""},
    ]


def test_a_table_without_rows_is_its_header() -> None:
    assert "".join(csv_lines(("a", "b"), [])) == "a,b\n"
