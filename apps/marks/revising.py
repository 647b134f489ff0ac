"""A sealed mark that stands otherwise after its marker saw more. What was sealed is kept beside it, for ever."""

from decimal import Decimal

from apps.accounts.models import User
from apps.marks.audit import audit
from apps.marks.models import Mark, MarkState
from apps.marks.sheets import scheme_of, step_of
from apps.reasoning.marking.commands import sheet_json
from apps.reasoning.marking.sealing import sheet_points
from apps.reasoning.marking.sheet import REASON_LENGTH, MarkSheet


def mark_revise(*, mark: Mark, sheet: MarkSheet, state: MarkState, reason: str, by: User) -> Mark:
    """Let a sealed mark stand with another sheet; `sealed_sheet` and `sealed_points` stay. The caller has checked the sheet.

    The rows of ticks and verdicts go on telling what was sealed.
    """
    before, after = mark.points, sheet_points(sheet, scheme_of(mark), step_of(mark.task.case.problem.contest)).points
    mark.sheet, mark.points, mark.state = sheet_json(sheet), after, state
    mark.change_reason = reason[:REASON_LENGTH]
    mark.row_version += 1
    mark.save(update_fields=["sheet", "points", "state", "change_reason", "row_version"])
    told = {"before": _text(before), "after": _text(after), "reason": mark.change_reason}
    audit(f"mark.{state.value}", actor=by, case=mark.task.case, mark=mark, **told)
    return mark


def _text(points: Decimal | None) -> str | None:
    return None if points is None else str(points)
