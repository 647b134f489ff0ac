"""The official result of a case, from one sealed mark or one coordination. Added, never changed: a later one supersedes."""

from decimal import Decimal

from apps.accounts.models import User
from apps.marks.models import Coordination, FinalGrade, Mark, MarkingCase
from apps.marks.sheets import scheme_of, sheet_of, step_of
from apps.reasoning.marking.commands import sheet_json
from apps.reasoning.marking.derivation import derivation_line
from apps.reasoning.marking.sealing import sheet_evaluation


def grade_now(case: MarkingCase) -> FinalGrade | None:
    """The grade that stands; None where the case was never settled."""
    return case.grades.filter(superseded_by=None).order_by("-pk").first()


def grade_of_mark(*, mark: Mark, by: User | None, reason: str = "") -> FinalGrade:
    """A grade from a sealed mark as it now stands; the standing one where it says just this already."""
    scheme, sheet = scheme_of(mark), sheet_of(mark)
    result = sheet_evaluation(sheet, scheme, step_of(mark.task.case.problem.contest))
    return _added(
        FinalGrade(
            case=mark.task.case,
            mark=mark,
            points=_sealed_points(mark),
            scheme_version=mark.scheme_version,
            sheet=sheet_json(sheet),
            derivation=derivation_line(result) if result else "",
            reason=reason,
            by=by,
        )
    )


def grade_of_coordination(*, coordination: Coordination, derivation: str, by: User) -> FinalGrade:
    """A grade from what people settled."""
    assert coordination.points is not None
    assert coordination.sheet is not None
    return _added(
        FinalGrade(
            case=coordination.case,
            coordination=coordination,
            points=coordination.points,
            scheme_version=coordination.scheme_version,
            sheet=coordination.sheet,
            derivation=derivation,
            reason=coordination.reason[:500],
            by=by,
        )
    )


def _added(grade: FinalGrade) -> FinalGrade:
    standing = grade_now(grade.case)
    if standing is not None and _same(standing, grade):
        return standing
    grade.supersedes = standing
    grade.save()
    return grade


def _same(one: FinalGrade, other: FinalGrade) -> bool:
    fields = ("mark_id", "coordination_id", "points", "scheme_version_id", "sheet", "derivation")
    return all(getattr(one, field) == getattr(other, field) for field in fields)


def _sealed_points(mark: Mark) -> Decimal:
    if mark.points is None:
        raise ValueError("a mark that is not sealed is no basis of a grade")
    return mark.points
