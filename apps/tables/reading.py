"""The rows of a table with known meanings: people, problems, texts and points, each with its line."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from apps.contests.models import EXTERNAL_LENGTH, NAME_LENGTH
from apps.files.grids import Grid, GridRow
from apps.files.values import RowWrong, points_of
from apps.submissions.models import TEXT_LENGTH
from apps.tables.columns import OF_PROBLEM, Column, Role, decimal, folded, is_unclear

MARKER_LENGTH = 150
REMARK_LENGTH = 4_000
#: Cells that say "no points".
_NO_POINTS = {"", "-", "–", "—", "n/a", "na", "absent", "x"}
_FRACTION = re.compile(r"([\d.,]+)\s*(?:/|of|out of|von)\s*([\d.,]+)", re.IGNORECASE)


@dataclass(frozen=True)
class Person:
    """A person of the table. `line`: where they come first."""

    line: int
    name: str = ""
    username: str = ""
    email: str = ""
    school: str = ""
    group: str = ""
    external_id: str = ""
    given: str = ""
    family: str = ""

    @property
    def shown(self) -> str:
        """What to call the person on pages."""
        return self.name or self.username or self.email


@dataclass(frozen=True)
class ProblemFacts:
    """What the table says about a problem."""

    line: int
    name: str
    title: str = ""
    statement: str = ""
    answer: str = ""
    references: tuple[str, ...] = ()
    guidelines: str = ""
    topic: str = ""


@dataclass(frozen=True)
class Points:
    """Points of a person, with their maximum; `marker` and `remark` may be empty."""

    points: Decimal
    out_of: Decimal
    marker: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Entry:
    """What one person has for one problem: a text, points or both. `person` is a key of `Rows.people`."""

    line: int
    person: str
    problem: str
    text: str = ""
    points: Points | None = None


@dataclass
class Rows:
    """Everything in a table. `wrong`: reasons by line; such a row is left out, or a part of it."""

    people: dict[str, Person] = field(default_factory=dict)
    problems: dict[str, ProblemFacts] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    wrong: dict[int, list[str]] = field(default_factory=dict)

    def refuse(self, line: int, reason: str) -> None:
        """Note why a row or a part of it is left out."""
        reasons = self.wrong.setdefault(line, [])
        if reason not in reasons:
            reasons.append(reason)


def rows_read(grid: Grid, columns: Sequence[Column], *, out_of: str = "", marker: str = "") -> Rows:
    """Read all rows. `out_of`, `marker`: for rows without their own. A wrong row never stops the rest."""
    rows = Rows()
    names = _Names(grid, columns)
    for row in grid.rows:
        if row.reason:
            rows.refuse(row.line, row.reason)
            continue
        try:
            _read(rows, names, grid, row, columns, out_of, marker)
        except RowWrong as wrong:
            rows.refuse(row.line, str(wrong))
    return rows


def _read(rows: Rows, names: "_Names", grid: Grid, row: GridRow, columns: Sequence[Column], out_of: str, marker: str) -> None:
    for index, reason in row.faults.items():
        if index < len(columns) and columns[index].role:
            raise RowWrong(f"The cell of “{grid.names[index]}” {reason}")
    values = {column.role: cell for column, cell in zip(columns, row.cells, strict=True) if column.role not in OF_PROBLEM}
    references = [cell for column, cell in zip(columns, row.cells, strict=True) if column.role == Role.REFERENCE and cell]
    if any("\0" in cell for cell in row.cells):
        raise RowWrong("A cell has an invalid character (NUL).")
    key = names.key_of(row, values)
    person = _person(row.line, values) if key else None
    problem = values.get(Role.PROBLEM, "") or values.get(Role.TITLE, "")
    if problem:
        _problem_keep(rows, row.line, " ".join(problem.split()), values, tuple(references))
    given = list(_entries(row, columns, values, out_of, marker, rows))
    if person is not None:
        first = rows.people.setdefault(key, person)
        if first is not person and not given and not problem and row.line not in rows.wrong:
            advice = " If these are two people, add a column with the school or an id." if key.startswith("name:") else ""
            raise RowWrong(f"{person.shown} is in line {first.line} already, so this row is left out.{advice}")
        rows.people[key] = replace(first, **{name: getattr(first, name) or getattr(person, name) for name in _DETAILS})
    if given and person is None:
        raise RowWrong("The row has a text or points, but no name.")
    if person is None and not problem:
        raise RowWrong("The row names neither a person nor a problem.")
    rows.entries += [replace(entry, person=key) for entry in given]


_DETAILS = ("name", "username", "email", "school", "group", "external_id", "given", "family")


class _Names:
    """Keys of people. Rows of one name are one person, unless several schools or ids tell apart who has that name."""

    def __init__(self, grid: Grid, columns: Sequence[Column]) -> None:
        self.details: dict[str, set[str]] = {}
        for row in grid.rows:
            values = {column.role: cell for column, cell in zip(columns, row.cells, strict=True)}
            if (name := folded(_name(values))) and (detail := _detail(values)):
                self.details.setdefault(name, set()).add(detail)

    def key_of(self, row: GridRow, values: Mapping[str, str]) -> str:
        """The key of the person in a row; empty if it names none. Raises `RowWrong` where it may be one of several."""
        if account := values.get(Role.USERNAME, "") or values.get(Role.EMAIL, "").casefold():
            return f"account:{account}"
        name = folded(_name(values))
        known = self.details.get(name, set())
        detail = _detail(values)
        if len(known) > 1 and not detail:
            raise RowWrong(f"Several people are called {_name(values)[:60]}. Add the school or an id to this row.")
        return f"name:{name}:{detail if len(known) > 1 else ''}" if name else ""


def _detail(values: Mapping[str, str]) -> str:
    return folded(values.get(Role.EXTERNAL, "")) or folded(values.get(Role.SCHOOL, ""))


def _name(values: Mapping[str, str]) -> str:
    parts = (values.get(Role.NAME, ""), values.get(Role.GIVEN, ""), values.get(Role.FAMILY, ""))
    return " ".join(" ".join(parts).split())


def _person(line: int, values: Mapping[str, str]) -> Person:
    """The person of a row. Raises `RowWrong` for values that are too long."""
    details = {
        "name": _name(values),
        "username": values.get(Role.USERNAME, ""),
        "email": values.get(Role.EMAIL, ""),
        "school": " ".join(values.get(Role.SCHOOL, "").split()),
        "group": " ".join(values.get(Role.GROUP, "").split()),
        "external_id": values.get(Role.EXTERNAL, ""),
        "given": values.get(Role.GIVEN, ""),
        "family": values.get(Role.FAMILY, ""),
    }
    for what, value in details.items():
        most = {"external_id": EXTERNAL_LENGTH, "group": 80}.get(what, NAME_LENGTH)
        if len(value) > most:
            raise RowWrong(f"The {what.replace('_', ' ')} is longer than {most} characters.")
    return Person(line, **details)


def _problem_keep(rows: Rows, line: int, name: str, values: Mapping[str, str], references: tuple[str, ...]) -> None:
    """Add what a row says about its problem; a later row may add to it, but not contradict the statement."""
    facts = ProblemFacts(
        line,
        name,
        values.get(Role.TITLE, ""),
        values.get(Role.STATEMENT, ""),
        values.get(Role.ANSWER, ""),
        references,
        values.get(Role.GUIDELINES, ""),
        values.get(Role.TOPIC, ""),
    )
    known = rows.problems.setdefault(name.casefold(), facts)
    if facts.statement and known.statement and facts.statement.split() != known.statement.split():
        raise RowWrong(f"The statement of problem {name[:40]} differs from that in line {known.line}. Give it another name.")
    merged = {
        what: getattr(known, what) or getattr(facts, what) for what in ("title", "statement", "answer", "guidelines", "topic")
    }
    every = tuple(dict.fromkeys((*known.references, *facts.references)))
    rows.problems[name.casefold()] = replace(known, references=every, **merged)


def _entries(
    row: GridRow, columns: Sequence[Column], values: Mapping[str, str], out_of: str, marker: str, rows: Rows
) -> Iterator[Entry]:
    """The texts and points of a row; `person` is filled in by the caller."""
    marker = " ".join((values.get(Role.MARKER, "") or marker).split())[:MARKER_LENGTH]
    remark = values.get(Role.REMARK, "")[:REMARK_LENGTH]
    named = next((column.out_of for column in columns if column.role == Role.POINTS), "")
    most = values.get(Role.OUT_OF, "") or named or out_of
    parts: dict[str, tuple[str, str, str]] = {}
    name = " ".join((values.get(Role.PROBLEM, "") or values.get(Role.TITLE, "")).split())
    if values.get(Role.TEXT, "") or values.get(Role.POINTS, ""):
        if not name:
            raise RowWrong("The problem is missing.")
        parts[name] = (values.get(Role.TEXT, ""), values.get(Role.POINTS, ""), most)
    for column, cell in zip(columns, row.cells, strict=True):
        if column.role in OF_PROBLEM and cell:
            text, points, maximum = parts.get(column.label, ("", "", most))
            is_text = column.role == Role.TEXT_OF
            parts[column.label] = (cell if is_text else text, points if is_text else cell, column.out_of or maximum)
    for problem, (text, points, maximum) in parts.items():
        rows.problems.setdefault(problem.casefold(), ProblemFacts(row.line, problem))
        try:
            found = _points(points, maximum, marker, remark)
        except RowWrong as wrong:
            rows.refuse(row.line, f"Problem {problem[:40]}: {wrong}")
            found = None
        if len(text) > TEXT_LENGTH:
            rows.refuse(row.line, f"Problem {problem[:40]}: the text is longer than {TEXT_LENGTH:,} characters.")
            text = ""
        if text or found:
            yield Entry(row.line, "", problem, text, found)


def _points(cell: str, out_of: str, marker: str, remark: str) -> Points | None:
    """Points of a cell such as `6,5` or `5/7`; None for a cell that says that there are none. Raises `RowWrong`."""
    if cell.casefold() in _NO_POINTS:
        return None
    if found := _FRACTION.fullmatch(cell):
        cell, out_of = found[1], found[2]
    if not out_of:
        raise RowWrong(f"the maximum of the points {cell[:20]} is missing. Enter it under “Maximum points”, or add a column.")
    for word in (cell, out_of):
        if is_unclear(word):
            raise RowWrong(f"“{word}” is unclear: its comma may separate thousands or decimals. Write the number without it.")
    given, most = points_of(decimal(cell), decimal(out_of))
    if given != round(given, 2) or most != round(most, 2):
        raise RowWrong(f"the points {cell[:20]} have more than two decimals.")
    return Points(given, most, marker, remark)
