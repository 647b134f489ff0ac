"""The result list as files: one line per paper with rank, points by problem and total, and names once they are open.

All three formats are written from one table, so that they agree. Texts that a spreadsheet would evaluate are guarded: by an
apostrophe in CSV (`apps/files/csv_files.py`), and in a workbook by a text format that survives editing.
"""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import xlsxwriter

from apps.contests.models import Contest, Identity
from apps.files.csv_files import csv_lines
from apps.marks.office.awards import award_words
from apps.marks.office.cutoffs import cutoffs_fixed
from apps.marks.office.names import Names, sign_off
from apps.marks.office.office import ResultList, ResultRow
from apps.marks.office.statistics import ProblemFigures
from apps.marks.office.totals import TotalFigures
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
    """One line per paper under `columns`. `about`: contest, digest, sign-off, and whether there are names.

    `statistics`: lines of a second sheet, for a workbook only.
    """

    about: dict[str, str]
    columns: list[str]
    lines: list[list[Value]]
    statistics: list[list[Value]] = field(default_factory=list)


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
    fixed = cutoffs_fixed(contest)
    if fixed is not None:
        about |= {f"{medal} from": points_text(total) for medal, total in fixed.cutoffs.lowest}
    award: list[Value] = [""] if fixed else []
    problems = [f"problem {problem.label}" for problem in found.problems]
    who = ["name", "school", "external id"] if names else []
    lines: list[list[Value]] = [
        [
            row.rank,
            row.paper.number,
            *_who(names, row.paper.pk),
            *row.points,
            row.total,
            *([award_words(fixed.cutoffs, row)] if fixed else []),
            _remark(row, found),
        ]
        for row in found.rows
    ]
    empty: list[Value] = [None] * (len(problems) + 1)
    lines += [[None, None, *_identity(identity), *empty, *award, "absent"] for identity in (names.absent if names else ())]
    return ResultTable(about, ["rank", "paper", *who, *problems, "total", *(["award"] if fixed else []), "remark"], lines)


def statistics_lines(problems: Sequence[ProblemFigures], totals: TotalFigures) -> list[list[Value]]:
    """The statistics of a contest as lines of a sheet: problems, totals, correlations. Empty cells: too few scripts."""
    most = sorted({points for one in problems for points in one.points})
    head: list[Value] = ["problem", "scripts", "settled", "mean", "standard deviation", "full points", "no points"]
    head += ["correlation with the rest", *(f"scripts with {points_text(one)}" for one in most)]
    lines: list[list[Value]] = [head]
    for one in problems:
        means = [_rounded(one.mean), _rounded(one.spread)]
        counts: list[Value] = [one.points.get(points, 0) for points in most]
        lines.append([one.problem.label, one.scripts, one.graded, *means, one.full, one.zero, _rounded(one.rest), *counts])
    lines += [[], ["papers with a total", totals.ranked], ["papers not marked yet", totals.unranked]]
    for name, value in (("mean", totals.mean), ("median", totals.middle), ("standard deviation", totals.spread)):
        lines.append([f"{name} of the totals", _rounded(value)])
    lines += [[], ["total", "papers"]]
    lines += [[one.words, one.papers] for one in totals.bins]
    lines += [[], ["problems", "papers", "correlation"]]
    lines += [[f"{one.one.label} and {one.other.label}", one.papers, _rounded(one.value)] for one in totals.pairs]
    return lines


def table_file(table: ResultTable, form: str) -> bytes:
    """The table as one of `FORMS`."""
    writers = {"csv": _csv, "xlsx": _xlsx, "jsonl": _jsonl}
    return writers[form](table)


def _who(names: Names | None, paper: int) -> list[Value]:
    return _identity(names.by_paper[paper]) if names else []


def _identity(identity: Identity) -> list[Value]:
    return [identity.name, identity.school, identity.external_id]


def _remark(row: ResultRow, found: ResultList) -> str:
    labels = row.unmarked(found.problems)
    if row.is_model:
        return "by a model, not ranked"
    return f"not marked: {', '.join(labels)}" if labels else ""


def _rounded(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(str(round(value, 3)))


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
    _lines_write(sheet, table.lines, text, 1)
    sheet.freeze_panes(1, 2)
    sheet.autofit()
    if table.statistics:
        statistics = book.add_worksheet("Statistics")
        _lines_write(statistics, table.statistics, text, 0)
        statistics.autofit()
    about = book.add_worksheet("About")
    for row, (name, value) in enumerate(table.about.items()):
        about.write_string(row, 0, name.replace("_", " "), head)
        about.write_string(row, 1, value, text)
    about.autofit()
    book.close()
    return target.getvalue()


def _lines_write(sheet: Any, lines: Sequence[list[Value]], text: Any, first: int) -> None:
    """Write texts as text, which a spreadsheet never computes, and numbers as numbers."""
    for row, line in enumerate(lines, first):
        for column, value in enumerate(line):
            if isinstance(value, str):
                sheet.write_string(row, column, value, text)
            elif value is not None:
                sheet.write_number(row, column, float(value))


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
