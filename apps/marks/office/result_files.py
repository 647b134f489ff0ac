"""The result list as files: one line per paper with rank, points by problem and total, and names once they are open.

All three formats are written from one table, so that they agree. Texts that a spreadsheet would evaluate are guarded: by an
apostrophe in CSV (`apps/files/csv_files.py`), and in a workbook by a text format that survives editing.
"""

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import xlsxwriter

from apps.contests.models import Contest, Identity
from apps.files.csv_files import csv_lines
from apps.marks.office.names import Names, sign_off
from apps.marks.office.office import ResultList
from apps.reasoning.marking.schemes.scheme import points_text
from apps.ui.zones import stamped

FORMAT = "lemmascope.results/1"
FORMS = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "jsonl": "application/x-ndjson; charset=utf-8",
}
#: A cell: a text, points, a rank, or nothing.
Value = str | Decimal | int | None


@dataclass(frozen=True)
class ResultTable:
    """One line per paper under `columns`. `about`: contest, digest, sign-off, and whether there are names."""

    about: dict[str, str]
    columns: list[str]
    lines: list[list[Value]]


def result_table(contest: Contest, found: ResultList, names: Names | None) -> ResultTable:
    """The list by rank and paper number. With names, absent people follow without points."""
    signed = sign_off(contest, found)
    about = {
        "contest": contest.title,
        "digest": found.digest,
        "signed_off": stamped(signed.at, contest.zone) if signed else "",
        "time_zone": contest.zone.key,
        "names": "yes" if names else "no",
    }
    problems = [f"problem {problem.label}" for problem in found.problems]
    who = ["name", "school", "external id"] if names else []
    lines: list[list[Value]] = [
        [row.rank, row.paper.number, *_who(names, row.paper.pk), *row.points, row.total, ""] for row in found.rows
    ]
    empty: list[Value] = [None] * (len(problems) + 1)
    lines += [[None, None, *_identity(identity), *empty, "absent"] for identity in (names.absent if names else ())]
    return ResultTable(about, ["rank", "paper", *who, *problems, "total", "remark"], lines)


def table_file(table: ResultTable, form: str) -> bytes:
    """The table as one of `FORMS`."""
    writers = {"csv": _csv, "xlsx": _xlsx, "jsonl": _jsonl}
    return writers[form](table)


def _who(names: Names | None, paper: int) -> list[Value]:
    return _identity(names.by_paper[paper]) if names else []


def _identity(identity: Identity) -> list[Value]:
    return [identity.name, identity.school, identity.external_id]


def _csv(table: ResultTable) -> bytes:
    rows = (dict(zip(table.columns, map(_text, line), strict=True)) for line in table.lines)
    return "".join(csv_lines(table.columns, rows)).encode()


def _xlsx(table: ResultTable) -> bytes:
    target = io.BytesIO()
    book = xlsxwriter.Workbook(target, {"in_memory": True})
    text, head = book.add_format({"quote_prefix": True}), book.add_format({"bold": True, "quote_prefix": True})
    sheet = book.add_worksheet("Results")
    for column, name in enumerate(table.columns):
        sheet.write_string(0, column, name, head)
    for row, line in enumerate(table.lines, 1):
        for column, value in enumerate(line):
            if isinstance(value, str):
                sheet.write_string(row, column, value, text)
            elif value is not None:
                sheet.write_number(row, column, float(value))
    sheet.freeze_panes(1, 2)
    sheet.autofit()
    about = book.add_worksheet("About")
    for row, (name, value) in enumerate(table.about.items()):
        about.write_string(row, 0, name.replace("_", " "), head)
        about.write_string(row, 1, value, text)
    about.autofit()
    book.close()
    return target.getvalue()


def _jsonl(table: ResultTable) -> bytes:
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _objects(table)).encode()


def _objects(table: ResultTable) -> Iterator[dict[str, Any]]:
    yield {"format": FORMAT, **table.about, "names": table.about["names"] == "yes"}
    for line in table.lines:
        found: dict[str, Any] = {"points": {}}
        for name, value in zip(table.columns, line, strict=True):
            number = float(value) if isinstance(value, Decimal) and value % 1 else value
            plain = int(number) if isinstance(number, Decimal) else number
            if name.startswith("problem "):
                found["points"][name.removeprefix("problem ")] = plain
            else:
                found[name.replace(" ", "_")] = plain
        yield found


def _text(value: Value) -> str:
    if value is None:
        return ""
    return points_text(value) if isinstance(value, Decimal) else str(value)
