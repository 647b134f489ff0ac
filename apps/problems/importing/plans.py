"""Preview of an import: each row is a valid problem or is skipped with a reason."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from apps.files.plans import Plan
from apps.files.tables import FileWrong, Record, Table, table_read
from apps.files.values import RowWrong
from apps.problems.drafts import ProblemDraft
from apps.problems.importing.shapes import SHAPES, Shape
from apps.problems.importing.values import draft_check, fingerprint
from apps.problems.models import Problem, ProblemVersion

_SLUG = "slug:"


@dataclass(kw_only=True)
class ImportPlan(Plan[ProblemDraft]):
    """The preview of an import. `row_word`: name of a row; `left_out`: columns unknown to the shape, which are ignored."""

    shape: Shape
    row_word: str
    left_out: list[str]


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
        self.statements = {fingerprint(text): _Place(title, listed) for text, title, listed in versions.iterator()}
        self.ids: dict[tuple[str, str], _Place] = {}
        for slug, origin, external_id, title, listed in problems.iterator():
            self.ids[_SLUG, slug] = _Place(title, listed)
            if external_id:
                self.ids[origin, external_id] = _Place(title, listed)

    def check(self, draft: ProblemDraft, number: int) -> None:
        """Raise `RowWrong` for a known problem; otherwise register it as row `number`."""
        ids = [(draft.origin, draft.external_id)] if draft.external_id else []
        ids += [(_SLUG, draft.slug)] if draft.slug else []
        print_ = fingerprint(draft.statement)
        if place := next((self.ids[key] for key in ids if key in self.ids), None):
            raise RowWrong(place.refusal("id"))
        if print_ in self.statements:
            raise RowWrong(self.statements[print_].refusal("statement"))
        self.statements[print_] = _Place(row=number)
        self.ids |= dict.fromkeys(ids, _Place(row=number))


def plan_make(data: bytes, shape_name: str = "auto") -> ImportPlan:
    """Preview a file without changes. Raises `FileWrong` if the file is unusable."""
    table = table_read(data)
    shape = shape_of(table, shape_name)
    plan = ImportPlan(shape=shape, row_word=table.row_word, left_out=_left_out(table, shape))
    known = _Known()
    for record in table.records:
        plan.add(str(record.number), partial(_draft_of, record, shape, known), _label(record, shape))
    return plan


def _draft_of(record: Record, shape: Shape, known: _Known) -> ProblemDraft:
    values = record.checked()
    unknown = [name for name in values if name not in shape.names]
    if shape.is_strict and unknown:
        raise RowWrong(f"Unknown field {unknown[0][:40]}.")
    draft = shape.read(values)
    draft_check(draft)
    known.check(draft, record.number)
    return draft


def shape_of(table: Table, wanted: str) -> Shape:
    """The wanted shape, or for `auto` the first that fits. Raises `FileWrong`, which names missing columns."""
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
