"""Preview of an import: each row is a valid problem or is skipped with a reason."""

import hashlib
from dataclasses import dataclass, field
from typing import NamedTuple

from apps.files.tables import FileWrong, Record, Table, table_read
from apps.files.values import RowWrong
from apps.problems.drafts import ProblemDraft
from apps.problems.importing.shapes import SHAPES, Shape
from apps.problems.importing.values import draft_check
from apps.problems.models import Problem, ProblemVersion

_SLUG = "slug:"


@dataclass(frozen=True)
class GoodRow:
    """A valid row."""

    number: int
    draft: ProblemDraft


@dataclass(frozen=True)
class WrongRow:
    """A skipped row; `label` is its id or title if readable."""

    number: int
    label: str
    reason: str


@dataclass
class ImportPlan:
    """The preview of an import."""

    shape: Shape
    is_csv: bool
    good: list[GoodRow] = field(default_factory=list)
    wrong: list[WrongRow] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Columns unknown to the shape, which are ignored."""


class _Place(NamedTuple):
    """The origin of a duplicate: a problem in or outside the library, or an earlier row of the file."""

    title: str = ""
    is_listed: bool = True
    row: int = 0

    def refusal(self, what: str) -> str:
        """Why a row with the same `what` is skipped."""
        if self.row:
            return f"Same {what} as row {self.row} of this file."
        if self.is_listed:
            return f"Already in the library: “{self.title}” has the same {what}."
        return f"“{self.title}” outside the library has the same {what}. Use the button on its page to add it."


class _Known:
    """Ids and statements of existing problems and earlier rows."""

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
        """Raise `RowWrong` for a known problem; otherwise register it as row `number`."""
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
    """Preview a file without changes. Raises `FileWrong` if the file is unusable."""
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
            raise FileWrong(
                f"Columns of the format {shape.title} are missing: {', '.join(missing)}. Add them or choose another format."
            )
        return shape
    for shape in SHAPES.values():
        if shape.required <= names:
            return shape
    nearest = max(SHAPES.values(), key=lambda shape: len(shape.required & names))
    if not nearest.required & names:
        raise FileWrong("Unknown columns. A file of problems needs at least title, topic and statement.")
    missing = sorted(nearest.required - names)
    raise FileWrong(f"This looks like the format {nearest.title}, but columns are missing: {', '.join(missing)}.")


def _left_out(table: Table, shape: Shape) -> list[str]:
    unknown = [name for name in table.names if name not in shape.names]
    if unknown and shape.is_strict and table.is_csv:
        raise FileWrong(f"Unknown columns: {', '.join(unknown)}. Rename or remove them, so that no data is lost unnoticed.")
    return unknown


def _label(record: Record, shape: Shape) -> str:
    for name in (shape.id_name, "title", "external_id"):
        value = record.values.get(name)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())[:120]
    return ""


def _fingerprint(statement: str) -> bytes:
    """A digest that ignores differences in white space."""
    return hashlib.sha256(" ".join(statement.split()).encode()).digest()
