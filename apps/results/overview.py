"""The results of a contest for one author: by problem, and the total once every text has points."""

from dataclasses import dataclass
from decimal import Decimal

from apps.contests.models import Contest, ContestProblem, Paper
from apps.contests.selectors import problem_list
from apps.marks.models import FinalGrade, ReleasePart
from apps.problems.models import ReferenceSolution
from apps.reasoning.marking.schemes.scheme import Scheme, points_text
from apps.results.shown import Spread, parts_of, parts_released, spreads_of
from apps.submissions.models import SubmissionVersion


@dataclass(frozen=True)
class ProblemRow:
    """A problem with the versions handed in, newest first, and whether each has released results.

    `points` are those of the newest version that has any; `points_of` is its number.
    """

    problem: ContestProblem
    versions: list[tuple[SubmissionVersion, bool]]
    points: str | None
    scale: str | None
    points_of: int | None
    solutions: list[ReferenceSolution]
    spread: Spread | None

    @property
    def is_of_older(self) -> bool:
        return self.points_of is not None and self.points_of != self.versions[0][0].number


@dataclass(frozen=True)
class Overview:
    """All problems, and the total points if every submitted text has some."""

    rows: list[ProblemRow]
    total: str | None
    out_of: str | None
    is_released: bool


def overview_of(contest: Contest, paper: Paper) -> Overview:
    """The released results of a paper."""
    versions = SubmissionVersion.objects.filter(submission__paper=paper, withdrawn_at=None).select_related("submission")
    by_problem: dict[int, list[SubmissionVersion]] = {}
    for version in versions.defer("raw", "source").order_by("-number"):
        by_problem.setdefault(version.submission.problem_id, []).append(version)
    shown = parts_of(one for mine in by_problem.values() for one in mine)
    parts = parts_released(contest)
    spreads = {spread.problem.pk: spread for spread in spreads_of(contest)}
    rows, grades = [], []
    for problem in problem_list(contest):
        mine = by_problem.get(problem.pk, [])
        grade, number = _graded(mine, shown)
        if mine:
            grades.append(grade)
        solutions = list(problem.problem.reference_solutions.all()) if ReleasePart.SOLUTION in parts else []
        rows.append(
            ProblemRow(
                problem=problem,
                versions=[(one, one.pk in shown) for one in mine],
                points=points_text(grade.points) if grade else None,
                scale=points_text(_scale(grade)) if grade else None,
                points_of=number,
                solutions=solutions,
                spread=spreads.get(problem.pk),
            )
        )
    known = [grade for grade in grades if grade is not None]
    is_whole = bool(known) and len(known) == len(grades)
    total = points_text(sum((grade.points for grade in known), Decimal(0))) if is_whole else None
    out_of = points_text(sum((_scale(grade) for grade in known), Decimal(0))) if is_whole else None
    return Overview(rows, total, out_of, bool(parts))


def _graded(versions: list[SubmissionVersion], shown: dict[int, dict[str, FinalGrade]]) -> tuple[FinalGrade | None, int | None]:
    """The released grade of the newest version that has one, with the number of that version."""
    for version in versions:
        grade = shown.get(version.pk, {}).get(ReleasePart.POINTS)
        if grade is not None:
            return grade, version.number
    return None, None


def _scale(grade: FinalGrade) -> Decimal:
    return (grade.scheme_version.content if grade.scheme_version is not None else Scheme()).scale
