"""What an import would do: every row of a file is either a good problem or wrong for a reason."""

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

from apps.problems.drafts import ProblemDraft
from apps.problems.importing.files import FileWrong, Record, Table, table_read
from apps.problems.importing.shapes import SHAPES, Shape
from apps.problems.importing.values import RowWrong, draft_check
from apps.problems.models import Problem, ProblemVersion

_SLUG = "slug:"


@dataclass(frozen=True)
class GoodRow:
    """A row that goes in."""

    number: int
    draft: ProblemDraft


@dataclass(frozen=True)
class WrongRow:
    """A row that is skipped; `label` is its id or title as far as it could be read."""

    number: int
    label: str
    reason: str


@dataclass
class ImportPlan:
    """What an import of a file would do."""

    shape: Shape
    is_csv: bool
    good: list[GoodRow] = field(default_factory=list)
    wrong: list[WrongRow] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Columns that this shape does not know and that are not taken over."""


class _Place(NamedTuple):
    """Where something is known from: a problem, in the library or outside it, or an earlier row of the file."""

    title: str = ""
    is_listed: bool = True
    row: int = 0

    def refusal(self, what: str) -> str:
        """Why a row with the same `what` is left out."""
        if self.row:
            return f"It has the same {what} as row {self.row} of this file."
        if self.is_listed:
            return f"The library has it already: “{self.title}” has the same {what}."
        return f"“{self.title}” has the same {what}. It is kept outside the library; its page has a button that puts it in."


class _Known:
    """What the problems and the earlier rows of the file already have."""

    def __init__(self) -> None:
        versions = ProblemVersion.objects.values_list("statement", "problem__title", "problem__is_listed")
        problems = Problem.objects.values_list("slug", "origin", "external_id", "title", "is_listed")
        self.statements = {_fingerprint(text): _Place(title, listed) for text, title, listed in versions.iterator()}
        self.ids: dict[tuple[str, str], _Place] = {}
        for slug, origin, external_id, title, listed in problems.iterator():
            self.ids[_SLUG, slug] = _Place(title, listed)
            if external_id:
                self.ids[origin, external_id] = _Place(title, listed)

    def check(self, draft: ProblemDraft, number: int) -> None:
        """Raise `RowWrong` where the problem is known already; else it is known from now on as that of row `number`."""
        ids = [(draft.origin, draft.external_id)] if draft.external_id else []
        ids += [(_SLUG, draft.slug)] if draft.slug else []
        print_ = _fingerprint(draft.statement)
        if place := next((self.ids[key] for key in ids if key in self.ids), None):
            raise RowWrong(place.refusal("id"))
        if print_ in self.statements:
            raise RowWrong(self.statements[print_].refusal("statement"))
        self.statements[print_] = _Place(row=number)
        self.ids |= dict.fromkeys(ids, _Place(row=number))


def plan_make(data: bytes, shape_name: str = "auto") -> ImportPlan:
    """Look at a file without changing anything. Raises `FileWrong` where nothing can be taken from it."""
    table = table_read(data)
    shape = _shape_of(table, shape_name)
    plan = ImportPlan(shape, table.is_csv, left_out=_left_out(table, shape))
    known = _Known()
    for record in table.records:
        try:
            draft = _draft_of(record, shape)
            known.check(draft, record.number)
        except RowWrong as error:
            plan.wrong.append(WrongRow(record.number, _label(record, shape), str(error)))
        else:
            plan.good.append(GoodRow(record.number, draft))
    return plan


def _draft_of(record: Record, shape: Shape) -> ProblemDraft:
    if record.reason:
        raise RowWrong(record.reason)
    unknown = [name for name in record.values if name not in shape.names]
    if shape.is_strict and unknown:
        raise RowWrong(f"Unknown field {unknown[0][:40]}.")
    draft = shape.read(record.values)
    draft_check(draft)
    return draft


def _shape_of(table: Table, wanted: str) -> Shape:
    names = set(table.names)
    if wanted != "auto":
        shape = SHAPES[wanted]
        if missing := sorted(shape.required - names):
            raise FileWrong(f"A file in the shape of {shape.title} has these columns, which are missing: {', '.join(missing)}.")
        return shape
    for shape in SHAPES.values():
        if shape.required <= names:
            return shape
    nearest = max(SHAPES.values(), key=lambda shape: len(shape.required & names))
    if not nearest.required & names:
        raise FileWrong("None of the columns is known. A problem has at least title, topic and statement.")
    missing = sorted(nearest.required - names)
    raise FileWrong(f"This looks like the shape of {nearest.title}, but it lacks: {', '.join(missing)}.")


def _left_out(table: Table, shape: Shape) -> list[str]:
    unknown = [name for name in table.names if name not in shape.names]
    if unknown and shape.is_strict and table.is_csv:
        raise FileWrong(f"Unknown columns: {', '.join(unknown)}. Rename or remove them, so that nothing is lost unseen.")
    return unknown


def _label(record: Record, shape: Shape) -> str:
    for name in (shape.id_name, "title", "external_id"):
        value = record.values.get(name)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())[:120]
    return ""


def _fingerprint(statement: str) -> bytes:
    """The same for statements that differ in white space only."""
    return hashlib.sha256(" ".join(statement.split()).encode()).digest()
