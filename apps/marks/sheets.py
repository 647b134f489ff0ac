"""Values read from the rows of a mark: sheet, scheme, script, and the state in every answer of the workspace."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from apps.contests.models import Contest
from apps.marks.models import Mark, MarkState
from apps.reasoning.marking.schemes.scheme import Scheme, points_text
from apps.reasoning.marking.sheets.commands import Script, sheet_json
from apps.reasoning.marking.sheets.pages import page_step
from apps.reasoning.marking.sheets.sealing import missing_for_seal, sheet_points
from apps.reasoning.marking.sheets.sheet import MarkSheet
from apps.reasoning.texts.segmentation import Step
from apps.submissions.models import SubmissionVersion

GRACE = timedelta(seconds=30)


@dataclass(frozen=True)
class Judged:
    """A mark with everything needed to compute with it."""

    mark: Mark
    sheet: MarkSheet
    scheme: Scheme
    step: Decimal
    asks_place: bool
    has_steps: bool

    @property
    def missing(self) -> list[str]:
        rules = {"asks_place": self.asks_place, "has_steps": self.has_steps}
        return missing_for_seal(self.sheet, self.scheme, self.step, **rules)


def sheet_of(mark: Mark) -> MarkSheet:
    """The sheet of a mark as a value."""
    return MarkSheet.model_validate(mark.sheet or {})


def scheme_of(mark: Mark) -> Scheme:
    """The scheme of a mark; without one, a scale of 7 and no items."""
    return mark.scheme_version.content if mark.scheme_version else Scheme()


def step_of(contest: Contest) -> Decimal:
    """The step of a contest's points."""
    return Decimal(contest.point_step)


def script_of(version: SubmissionVersion) -> Script:
    """The text of a version with its steps and pages, in the form of the core. A page's id is that of its scan."""
    rows = version.steps.all()
    steps = tuple(Step.model_validate({name: getattr(row, name) for name in Step.model_fields}) for row in rows)
    pages = tuple(map(str, version.pages.values_list("scan__public_id", flat=True)))
    return Script(source=version.source, steps=steps, pages=pages)


def places_of(version: SubmissionVersion) -> list[int]:
    """The numbers of a script's steps and pages."""
    pages = version.pages.values_list("number", flat=True)
    return [*version.steps.values_list("number", flat=True), *map(page_step, pages)]


def judged(mark: Mark) -> Judged:
    """The mark with its sheet, its scheme and the rules of the contest."""
    problem = mark.task.case.problem
    version = mark.task.case.version
    rules = {"asks_place": problem.setup.asks_place, "has_steps": version.steps.exists() or version.pages.exists()}
    return Judged(mark, sheet_of(mark), scheme_of(mark), step_of(problem.contest), **rules)


def grace_until(mark: Mark) -> datetime | None:
    """The time until which a sealed mark may be reopened; None for a draft."""
    return mark.sealed_at + GRACE if mark.sealed_at else None


def mark_state(mark: Mark) -> dict[str, Any]:
    """The state of a mark as JSON, as in every answer to a command.

    `needs`: reasons against sealing, as sentences; `points` and `computed` as text or null.
    """
    found = judged(mark)
    worth = sheet_points(found.sheet, found.scheme, found.step)
    numbers = set(mark.commands.values_list("number", flat=True))
    until = grace_until(mark)
    return {
        "row_version": mark.row_version,
        "sheet": sheet_json(found.sheet),
        "points": _text(worth.points),
        "computed": _text(worth.computed),
        "derivation": worth.derivation,
        "band": found.sheet.band.value if found.sheet.band else None,
        "first_error": found.sheet.first_error,
        "needs": found.missing,
        "can_undo": mark.position > 0 and (mark.position == 1 or mark.position - 1 in numbers),
        "can_redo": mark.position + 1 in numbers,
        "saved_at": timezone.now().isoformat(),
        "is_sealed": mark.state != MarkState.DRAFT,
        "undo_until": until.isoformat() if until else None,
    }


def _text(points: Decimal | None) -> str | None:
    return None if points is None else points_text(points)
