"""Import of a file as a set: rows that the library has are taken from there, the others become problems outside it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import transaction

from apps.accounts.models import User
from apps.files.plans import Plan
from apps.files.tables import Record, table_read
from apps.files.values import RowWrong
from apps.problem_sets.models import NAME_LENGTH, ProblemSet, ProblemSetVersion
from apps.problem_sets.services import Named, items_of, set_create, version_add
from apps.problems.access import solved_visible_to
from apps.problems.drafts import ProblemDraft
from apps.problems.importing.plans import shape_of
from apps.problems.importing.shapes import Shape
from apps.problems.importing.values import draft_check, fingerprint
from apps.problems.models import Problem, ProblemVersion
from apps.problems.services import problem_text_add, problems_import


@dataclass(frozen=True)
class SetRow:
    """A row of the file. `known`: the version of the library with its text; `revises`: the problem whose text it changes."""

    name: str
    draft: ProblemDraft
    known: ProblemVersion | None = None
    revises: Problem | None = None


@dataclass(kw_only=True)
class SetPlan(Plan[SetRow]):
    """What an import would do."""

    shape: Shape

    @property
    def rows(self) -> list[SetRow]:
        return [one.draft for one in self.good]


@dataclass
class _Library:
    """Problems that `by` may use, by text and by id, and the names of earlier rows."""

    by: User | None
    texts: dict[tuple[bytes, str], ProblemVersion] = field(default_factory=dict)
    ids: dict[tuple[str, str], Problem] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        usable = Problem.objects.all() if self.by is None else solved_visible_to(self.by)
        versions = ProblemVersion.objects.select_related("problem").order_by("number")
        self.usable = set(usable.values_list("pk", flat=True))
        self.texts = {(fingerprint(one.statement), one.answer.strip()): one for one in versions.iterator()}
        self.ids = {(one.origin, one.external_id): one for one in Problem.objects.exclude(external_id="").iterator()}

    def row(self, draft: ProblemDraft, number: int) -> SetRow:
        """The row of a checked draft. Raises `RowWrong`."""
        name = (draft.external_id or draft.slug or draft.title)[:NAME_LENGTH]
        if name in self.rows:
            raise RowWrong(f"Row {self.rows[name]} of this file has the same id.")
        known = self.texts.get((fingerprint(draft.statement), draft.answer.strip()))
        same = self.ids.get((draft.origin, draft.external_id)) if draft.external_id else None
        problem = known.problem if known else same
        if problem is not None and problem.pk not in self.usable:
            raise RowWrong("This problem cannot be used for now.")
        if known is None and same is not None and same.is_listed:
            raise RowWrong(f"“{same.title}” of the library has this id and another text. Edit one of them.")
        self.rows[name] = number
        return SetRow(name, draft, known, None if known else same)


def set_plan(data: bytes, shape_name: str, by: User | None) -> SetPlan:
    """Preview an import without changes. Raises `FileWrong` if the file is unusable."""
    table = table_read(data)
    shape = shape_of(table, shape_name)
    plan, library = SetPlan(shape=shape), _Library(by)
    for record in table.records:
        label = str(record.values.get(shape.id_name) or "")[:120]
        plan.add(f"{table.row_word} {record.number}", partial(_row, record, shape, library), label)
    return plan


def _row(record: Record, shape: Shape, library: _Library) -> SetRow:
    draft = shape.read(record.checked())
    draft_check(draft)
    return library.row(draft, record.number)


@transaction.atomic
def set_import(
    *, plan: SetPlan, by: User | None, title: str = "", into: ProblemSet | None = None, credit: str = "", licence: str = ""
) -> ProblemSetVersion:
    """Import the good rows as a new set, or as a new version of `into`, whose splits are kept by name. Raises `SetRefused`."""
    new = [row for row in plan.rows if row.known is None and row.revises is None]
    made = dict(
        zip((row.name for row in new), problems_import(drafts=[row.draft for row in new], by=by, is_listed=False), strict=True)
    )
    versions = {one.problem_id: one for one in ProblemVersion.objects.filter(problem__in=made.values())}
    splits = {one.name: one.split for one in items_of(newest)} if into and (newest := into.versions.first()) else {}
    items = [Named(row.name, row.known or _text_of(row, made, versions, by), splits.get(row.name, "")) for row in plan.rows]
    made_as: dict[str, Any] = {
        "items": items,
        "by": by,
        "note": f"Imported from a file of {plan.shape.title}",
        "left_out": [(row.where, row.label, row.reason) for row in plan.wrong],
    }
    if into is not None:
        return version_add(problem_set=into, **made_as)
    return set_create(title=title, credit=credit, licence=licence, **made_as)


def _text_of(row: SetRow, made: dict[str, Problem], versions: dict[int, ProblemVersion], by: User | None) -> ProblemVersion:
    if row.revises is not None:
        return problem_text_add(problem=row.revises, draft=row.draft, by=by)
    return versions[made[row.name].pk]


def named_of(problems: Sequence[Problem]) -> list[Named]:
    """The newest texts of problems of the library, under their slugs."""
    newest: dict[int, ProblemVersion] = {}
    for version in ProblemVersion.objects.filter(problem__in=problems).order_by("number"):
        newest[version.problem_id] = version
    return [Named(one.slug[:NAME_LENGTH], newest[one.pk]) for one in problems]
