"""A marked paper for printing: its settled texts step by step, with what is written to the student and nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import QuerySet

from apps.contests.models import Contest, ContestProblem, Paper
from apps.marks.models import FinalGrade
from apps.marks.office import grades_settled
from apps.marks.selectors import FALLACY_WORDS
from apps.reasoning.marking.scheme import Scheme
from apps.reasoning.marking.sheet import Comment, MarkSheet, StepVerdict
from apps.reasoning.marking.student_view import comments_shown, derivation_shown
from apps.submissions.models import SubmissionVersion, VersionScan


@dataclass(frozen=True)
class PrintedVerdict:
    """An error at a step, in words."""

    value: StepVerdict
    words: str


@dataclass(frozen=True)
class PrintedStep:
    """A step with what is said about it."""

    number: int
    text: str
    verdicts: list[PrintedVerdict]
    comments: list[Comment]


@dataclass(frozen=True)
class PrintedProblem:
    """A text with its grade: `whole` are the comments on all of it, `derivation` is as students read it."""

    problem: ContestProblem
    points: Decimal
    scale: Decimal
    derivation: str
    steps: list[PrintedStep]
    whole: list[Comment]
    pages: QuerySet[VersionScan]


def paper_printed(contest: Contest, paper: Paper) -> list[PrintedProblem]:
    """The settled texts of a paper in the order of the problems."""
    grades = grades_settled(contest).filter(case__version__submission__paper=paper)
    return [_printed(grade) for grade in sorted(grades, key=lambda grade: grade.case.problem.position)]


def _printed(grade: FinalGrade) -> PrintedProblem:
    sheet, version = MarkSheet.model_validate(grade.sheet), grade.case.version
    scheme = grade.scheme_version.content if grade.scheme_version else Scheme()
    comments = comments_shown(sheet)
    return PrintedProblem(
        problem=grade.case.problem,
        points=grade.points,
        scale=scheme.scale,
        derivation=derivation_shown(scheme, sheet, grade.points),
        steps=_steps(version, sheet.verdicts, comments),
        whole=[comment for comment in comments if not comment.step],
        pages=version.pages.select_related("scan").defer("scan__jpeg"),
    )


def _steps(version: SubmissionVersion, verdicts: Sequence[StepVerdict], comments: Sequence[Comment]) -> list[PrintedStep]:
    return [
        PrintedStep(
            number=step.number,
            text=version.source[step.start : step.end],
            verdicts=[PrintedVerdict(one, FALLACY_WORDS[one.fallacy]) for one in verdicts if one.step == step.number],
            comments=[one for one in comments if one.step == step.number],
        )
        for step in version.steps.all()
    ]
