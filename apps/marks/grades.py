"""Grades: the official results of a case, each from one sealed mark or one coordination. Later grades supersede earlier."""

from django.db import transaction

from apps.accounts.models import User
from apps.marks.audit import audit
from apps.marks.models import FinalGrade, Mark, MarkingCase
from apps.marks.sheets import scheme_of, sheet_of, step_of
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.commands import sheet_json
from apps.reasoning.marking.sheets.sealing import sheet_points
from apps.reasoning.marking.sheets.sheet import MarkSheet


def grade_of(case: MarkingCase) -> FinalGrade | None:
    """The current grade, which no other supersedes; None if the case was never settled."""
    return FinalGrade.objects.filter(case=case, superseded_by=None).order_by("-pk").first()


def is_recomputed(grade: FinalGrade) -> bool:
    """Whether a scheme change made this grade: its scheme version differs from that of its mark or coordination."""
    basis = grade.mark or grade.coordination
    return basis is not None and basis.scheme_version_id != grade.scheme_version_id


@transaction.atomic
def grade_give(
    *, case: MarkingCase, mark: Mark, by: User | None, reason: str = "", sheet: MarkSheet | None = None
) -> FinalGrade:
    """Create a grade from a sealed mark; supersedes the previous grade. Raises `ValueError` for a mark without points.

    `sheet`: the mark's sheet with notes of colleagues who agree, if there are any.
    """
    if mark.points is None:
        raise ValueError("an unsealed mark cannot be the basis of a grade")
    sheet = sheet or sheet_of(mark)
    worth = sheet_points(sheet, scheme_of(mark), step_of(case.problem.contest))
    grade = FinalGrade.objects.create(
        case=case,
        mark=mark,
        points=mark.points,
        scheme_version=mark.scheme_version,
        sheet=sheet_json(sheet),
        derivation=worth.derivation if mark.points == worth.computed else "",
        reason=reason,
        supersedes=grade_of(case),
        by=by,
    )
    points = points_text(mark.points)
    audit("grade.given", actor=by, case=case, mark=mark, grade=str(grade.public_id), points=points, reason=reason)
    return grade
