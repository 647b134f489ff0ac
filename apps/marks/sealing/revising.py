"""Revising a sealed mark after more was shown to its marker. The sealed version is kept permanently.

sealed → confirmed    the marker keeps it
sealed → revised      with a reason; if this mark settled the case, a new grade supersedes the old one,
                      unless a changed scheme has recomputed it
"""

from decimal import Decimal

from django.db import transaction

from apps.accounts.models import User
from apps.marks.audit import audit
from apps.marks.grades import grade_give, grade_of, is_recomputed
from apps.marks.models import CaseState, Mark, MarkState
from apps.marks.sheets import scheme_of, sheet_of, step_of
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.commands import sheet_json
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, MarkSheet

SEALED = (MarkState.SEALED, MarkState.CONFIRMED, MarkState.REVISED)


class RevisionRefused(Exception):
    """The mark cannot be confirmed or revised; the message gives the reason."""


@transaction.atomic
def mark_confirm(*, mark: Mark, user: User) -> Mark:
    """Keep a sealed mark after a reveal. Raises `RevisionRefused` if it is not sealed."""
    if not Mark.objects.filter(pk=mark.pk, state=MarkState.SEALED).update(state=MarkState.CONFIRMED):
        raise RevisionRefused("Only a sealed mark can be confirmed.")
    mark.state = MarkState.CONFIRMED
    audit("mark.confirmed", actor=user, case=mark.task.case, mark=mark, points=_text(mark.points))
    return mark


@transaction.atomic
def mark_revise(*, mark: Mark, user: User, points: Decimal, reason: str, sheet: MarkSheet | None = None) -> Mark:
    """Change the points of a sealed mark, and optionally its sheet. Rows of ticks and verdicts keep the sealed content.

    Raises `RevisionRefused` without a reason, for points off the scale or the step, and for a mark that is not sealed.
    """
    scheme, step = scheme_of(mark), step_of(mark.task.case.problem.contest)
    reason = " ".join(reason.split())
    if not reason or len(reason) > REASON_LENGTH:
        raise RevisionRefused("Enter a reason in one sentence.")
    if not 0 <= points <= scheme.scale or points % step:
        raise RevisionRefused(f"Enter points as a multiple of {points_text(step)}, up to {points_text(scheme.scale)}.")
    if mark.state not in SEALED:
        raise RevisionRefused("Only a sealed mark can be revised.")
    before = mark.points
    if sheet is None:
        sheet = sheet_of(mark)
        sheet = sheet.model_copy(update={"typed": points, "reason": reason}) if points != before else sheet
    mark.points, mark.change_reason, mark.state = points, reason, MarkState.REVISED
    mark.row_version += 1
    mark.sheet = sheet_json(sheet)
    mark.save(update_fields=["points", "change_reason", "state", "row_version", "sheet"])
    audit("mark.revised", actor=user, case=mark.task.case, mark=mark, before=_text(before), after=_text(points), reason=reason)
    case = mark.task.case
    grade = grade_of(case)
    is_own = grade is not None and grade.mark_id == mark.pk and not is_recomputed(grade)
    is_other = grade is not None and (grade.points, grade.sheet) != (points, mark.sheet)
    if case.state == CaseState.SETTLED and is_own and is_other:
        grade_give(case=case, mark=mark, by=user, reason=reason)
    return mark


def _text(points: Decimal | None) -> str | None:
    return None if points is None else points_text(points)
