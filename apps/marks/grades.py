"""The official result of a case, from one sealed mark or one coordination. Added, never changed: a later one supersedes."""

from django.db import transaction

from apps.accounts.models import User
from apps.marks.audit import audit
from apps.marks.models import FinalGrade, Mark, MarkingCase
from apps.marks.sheets import scheme_of, sheet_of, step_of
from apps.reasoning.marking.commands import sheet_json
from apps.reasoning.marking.scheme import points_text
from apps.reasoning.marking.sealing import sheet_points
from apps.reasoning.marking.sheet import MarkSheet


def grade_of(case: MarkingCase) -> FinalGrade | None:
    """The grade that holds: the one that nothing supersedes; None where the case was never settled."""
    return FinalGrade.objects.filter(case=case, superseded_by=None).order_by("-pk").first()


def is_recomputed(grade: FinalGrade) -> bool:
    """Whether a changed scheme made this grade: it stands under another version than the mark or coordination behind it."""
    basis = grade.mark or grade.coordination
    return basis is not None and basis.scheme_version_id != grade.scheme_version_id


@transaction.atomic
def grade_give(
    *, case: MarkingCase, mark: Mark, by: User | None, reason: str = "", sheet: MarkSheet | None = None
) -> FinalGrade:
    """A grade from a sealed mark as it stands; it supersedes the one before. Raises `ValueError` for a mark without points.

    `sheet`: the mark's own with notes of colleagues who agree, where there are any.
    """
    if mark.points is None:
        raise ValueError("a mark that is not sealed is no basis of a grade")
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
