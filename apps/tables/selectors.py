"""Reads of table imports, and what their pages show."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.accounts.enrolling import never_signed_in
from apps.accounts.models import User
from apps.contests.models import Contest, Identity
from apps.files.csv_files import csv_lines
from apps.files.grids import Grid
from apps.tables.columns import LEFT_OUT_HEADER, Column
from apps.tables.models import TableImport

_SAMPLES = 3


@dataclass(frozen=True)
class ColumnRow:
    """A column on the page: its name, the first cells, and its meaning."""

    index: int
    name: str
    samples: list[str]
    meaning: Column


def column_rows(grid: Grid, columns: Sequence[Column]) -> list[ColumnRow]:
    """The columns of a table as rows of the page."""
    samples: list[list[str]] = [[] for _ in grid.names]
    for row in grid.rows:
        for index, cell in enumerate(row.cells):
            if cell and len(samples[index]) < _SAMPLES:
                samples[index].append(cell)
        if all(len(one) == _SAMPLES for one in samples):
            break
    pairs = zip(grid.names, columns, strict=True)
    return [ColumnRow(index, name, samples[index], column) for index, (name, column) in enumerate(pairs)]


def import_list(user: User, contest: Contest) -> QuerySet[TableImport]:
    """The user's own imports into a contest, newest first."""
    return TableImport.objects.filter(by=user, contest=contest).defer("left_out")


def left_out_lines(header: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    """The left-out rows as CSV: line, reason and the cells. `rows`: [line, reason, cells …]."""
    line, reason = (_free(name, header) for name in LEFT_OUT_HEADER)
    names = [line, reason, *header]
    return csv_lines(names, (dict(zip(names, row, strict=False)) for row in rows))


def unused_accounts(record: TableImport) -> QuerySet[User]:
    """Accounts that an import created and that were never signed in to."""
    return never_signed_in(set(record.accounts.values_list("pk", flat=True)))


def points_lines(record: TableImport) -> Iterator[str]:
    """The points of an import as CSV, by name, without paper numbers."""
    rows = record.points.select_related("problem").order_by("problem__position", "pk")
    people = {one.paper_id: one for one in Identity.objects.filter(contest=record.contest)}
    names = ("name", "school", "problem", "points", "out_of", "marker", "remark")
    return csv_lines(
        names,
        (
            {
                "name": people[row.paper_id].name,
                "school": people[row.paper_id].school,
                "problem": row.problem.label,
                "points": f"{row.points.normalize():f}",
                "out_of": f"{row.out_of.normalize():f}",
                "marker": row.marker,
                "remark": row.remark,
            }
            for row in rows
            if row.paper_id in people
        ),
    )


def _free(name: str, used: Sequence[str]) -> str:
    while name in used:
        name += "_"
    return name
