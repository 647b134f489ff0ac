"""A marker's own marks as a table: CSV export, and import row by row through the usual commands and sealing.

An empty cell keeps the current value; `!clear` empties it. Each row is sealed if it is complete, or refused with the reason,
independently of the others. A row that repeats a sealed mark changes nothing, so an exported table can be imported again.
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.files.csv_files import csv_lines
from apps.files.tables import FileWrong, Record, table_read
from apps.files.values import RowWrong
from apps.marks.access import TaskGone
from apps.marks.models import CLAIMED, Mark, MarkingCase, MarkState
from apps.marks.office.exporting import claim_of, comment_of
from apps.marks.sealing.sealing import NotReady, mark_seal
from apps.marks.sheets import sheet_of
from apps.marks.workspace.claims import task_of_case
from apps.marks.workspace.drafts import Command, command_apply, draft_of
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.commands import CommandRefused
from apps.reasoning.marking.sheets.sheet import MarkSheet

COLUMNS = ("paper", "claim", "points", "reason", "comment")
CLEAR = "!clear"
ROWS_AT_MOST = 300
#: Name of the table's comment on the whole script. Its id is stable in one task, so that it is replaced, and differs between
#: tasks, since comments of several markers meet in one grade.
COMMENT = "table"


@dataclass(frozen=True)
class Outcome:
    """The result of a row. `state`: sealed, unchanged or refused (with a reason)."""

    number: int
    paper: str
    state: str
    reason: str = ""
    points: str = ""


@dataclass(frozen=True)
class _Book:
    """Context for the rows of a table: scripts by number, own sealed marks by script, numbers seen so far."""

    problem: ContestProblem
    user: User
    cases: Mapping[str, MarkingCase]
    own: Mapping[int, Mark]
    is_trial: bool
    met: set[str] = field(default_factory=set)


def table_written(problem: ContestProblem, user: User) -> str:
    """The marker's sealed marks on a problem, one line each. Waiting scripts have a line with the number only."""
    own = {mark.task.case_id: mark for mark in _sealed(problem, user)}
    papers = ((case.version.submission.paper.number, own.get(case.pk)) for case in _cases(problem))
    return "".join(csv_lines(COLUMNS, ({"paper": paper} | (_values(mark) if mark else {}) for paper, mark in papers)))


def table_seal(*, problem: ContestProblem, user: User, data: bytes, is_trial: bool) -> list[Outcome]:
    """Seal the rows independently. With `is_trial` nothing is stored. Raises `FileWrong`."""
    table = table_read(data)
    if unknown := sorted(set(table.names) - set(COLUMNS)):
        raise FileWrong(f"There is no column {', '.join(unknown)[:200]}, so no row was read. Use {', '.join(COLUMNS)}.")
    if "paper" not in table.names:
        raise FileWrong("The table has no column paper, so no row was read.")
    if len(table.records) > ROWS_AT_MOST:
        raise FileWrong(f"The table has more than {ROWS_AT_MOST} rows, so none was read. Split it.")
    cases = {case.version.submission.paper.number: case for case in _cases(problem)}
    book = _Book(problem, user, cases, {mark.task.case_id: mark for mark in _sealed(problem, user)}, is_trial)
    return [_row(book, record) for record in table.records]


def _row(book: _Book, record: Record) -> Outcome:
    """Process a row in its own transaction, which a trial rolls back."""
    values = {name: str(record.values.get(name) or "").strip() for name in COLUMNS}
    number = values["paper"].upper()
    try:
        record.checked()
        if number not in book.cases:
            raise RowWrong("This problem has no script of a paper with this number.")
        if number in book.met:
            raise RowWrong("This paper occurs twice in the table; only its first row counts.")
        book.met.add(number)
        if mark := book.own.get(book.cases[number].pk):
            _compare(mark, values)
            return Outcome(record.number, number, "unchanged", points=_points(mark))
        if not any(values[name] for name in COLUMNS[1:]):
            return Outcome(record.number, number, "unchanged", "The row is empty.")
        with transaction.atomic():
            mark = _marked(book.problem, book.user, book.cases[number], values)
            transaction.set_rollback(book.is_trial)
        return Outcome(record.number, number, "sealed", points=_points(mark))
    except (RowWrong, CommandRefused, NotReady, TaskGone) as refused:
        return Outcome(record.number, number, "refused", str(refused))


def _marked(problem: ContestProblem, user: User, case: MarkingCase, values: Mapping[str, str]) -> Mark:
    task = task_of_case(problem, user, case.pk)
    if task is None:
        raise RowWrong("This script is not free for you: another marker has it, or you already have a part in it.")
    for verb, args in _commands(values, sheet_of(draft_of(task, user)), str(uuid.uuid5(task.public_id, COMMENT))):
        command = Command(id=uuid.uuid4(), verb=verb, args=args, row_version=draft_of(task, user).row_version)
        command_apply(task=task, user=user, command=command)
    return mark_seal(task=task, user=user, row_version=draft_of(task, user).row_version, active_seconds=0)


def _commands(values: Mapping[str, str], sheet: MarkSheet, comment_id: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The commands of a row for a draft; none for empty cells."""
    if claim := values["claim"]:
        yield "claim", {"line": "" if claim == CLEAR else claim}
    if points := values["points"]:
        yield "points", {"points": None if points == CLEAR else points.replace(",", ".")}
    if reason := values["reason"]:
        yield "reason", {"words": "" if reason == CLEAR else reason}
    if (comment := values["comment"]) == CLEAR:
        yield from (("comment_remove", {"id": one.id}) for one in sheet.comments if one.audience == "student" and not one.step)
    elif comment:
        yield "comment", {"id": comment_id, "step": 0, "words": comment}


def _compare(mark: Mark, values: Mapping[str, str]) -> None:
    """Raise `RowWrong` if a row differs from the sealed mark."""
    sealed = _values(mark)
    other = [name for name in COLUMNS[1:] if values[name] not in ("", sealed[name]) and not _is_same(name, values, mark)]
    if other:
        raise RowWrong(f"You sealed this script with a different {' and '.join(other)}. A sealed mark does not change.")


def _is_same(name: str, values: Mapping[str, str], mark: Mark) -> bool:
    """Whether a cell only repeats the points of the claim, or clears an empty value."""
    if name == "points":
        return values["points"].replace(",", ".") == _points(mark)
    return values[name] == CLEAR and not _values(mark)[name]


def _values(mark: Mark) -> dict[str, str]:
    sheet = sheet_of(mark)
    return {
        "claim": claim_of(sheet, mark.scheme_version),
        "points": "" if sheet.typed is None else points_text(sheet.typed),
        "reason": sheet.reason,
        "comment": comment_of(sheet),
    }


def _points(mark: Mark) -> str:
    return "" if mark.points is None else points_text(mark.points)


def _cases(problem: ContestProblem) -> list[MarkingCase]:
    rows = MarkingCase.objects.filter(problem=problem).select_related("version__submission__paper")
    return list(rows.order_by("version__submission__paper__number", "version__number"))


def _sealed(problem: ContestProblem, user: User) -> list[Mark]:
    """The newest sealed mark of this user on each script."""
    rows = Mark.objects.filter(task__case__problem=problem, task__slot__in=CLAIMED, marker=user, sealed_at__isnull=False)
    return list(rows.exclude(state=MarkState.VOID).select_related("task", "scheme_version").order_by("pk"))
