"""A marked paper for printing: its settled texts by step, with the remarks to the student only."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from apps.contests.models import Contest, ContestProblem, Paper
from apps.marks.models import FinalGrade
from apps.marks.office.office import grades_settled
from apps.marks.page_marks import PageMarked, pages_marked, remark_title
from apps.marks.selectors import FALLACY_WORDS
from apps.reasoning.marking.schemes.scheme import Scheme, points_text
from apps.reasoning.marking.sheets.sheet import Comment, MarkSheet, StepVerdict
from apps.reasoning.marking.sheets.student_view import ORIGINS, comments_shown, derivation_shown
from apps.reasoning.texts.latex import shown_of
from apps.submissions.models import SubmissionVersion
from apps.submissions.selectors import versions_to_mark
from apps.ui.typeset.document import Document, Part

PICTURES_AT_MOST = 40
ROLES = {"consequence": "follows from an earlier error", "harmless": "harmless"}


@dataclass(frozen=True)
class PrintedVerdict:
    """An error at a step, in words."""

    value: StepVerdict
    words: str

    @property
    def origin(self) -> str:
        """Who found it, if not the marker."""
        return ORIGINS.get(self.value.origin, "")


@dataclass(frozen=True)
class PrintedStep:
    """A step in Markdown, with its remarks."""

    number: int
    text: str
    verdicts: list[PrintedVerdict]
    comments: list[Comment]


@dataclass(frozen=True)
class PrintedProblem:
    """A text with its grade. `whole`: comments on the whole text. `derivation`: as shown to students.

    `older`: number of the graded version if a newer one has no grade yet, else 0.
    """

    problem: ContestProblem
    older: int
    points: Decimal
    scale: Decimal
    derivation: str
    steps: list[PrintedStep]
    whole: list[Comment]
    pages: list[PageMarked[PrintedVerdict]]


def paper_printed(contest: Contest, paper: Paper) -> list[PrintedProblem]:
    """The settled texts of a paper, in the order of the problems."""
    grades = grades_settled(contest).filter(case__version__submission__paper=paper)
    newest = set(versions_to_mark(contest, [paper]).values_list("pk", flat=True))
    return [_printed(grade, newest) for grade in sorted(grades, key=lambda grade: grade.case.problem.position)]


def paper_document(contest: Contest, paper: Paper, printed: Sequence[PrintedProblem]) -> Document:
    """The same as a document for typesetting. It contains nothing about the author."""
    document = Document(f"Paper {paper.number}", contest.title, note="Notes and reasons of markers are left out.")
    for one in printed:
        version = f", version {one.older}" if one.older else ""
        head = f"Problem {one.problem.label}{version}: {points_text(one.points)} of {points_text(one.scale)}"
        part = document.part(head, one.derivation)
        for page in one.pages:
            page.print(document, part, PICTURES_AT_MOST)
            for row in page.rows:
                if row.verdict is not None:
                    _remark(part, row.verdict, row.number)
                elif row.comment is not None:
                    part.comment(remark_title(row.number), row.comment.words)
        for step in one.steps:
            part.step(step.number, step.text)
            for verdict in step.verdicts:
                _remark(part, verdict)
            for comment in step.comments:
                part.comment("", comment.words)
        for comment in one.whole:
            part.comment("", comment.words)
    return document


def _remark(part: Part, verdict: PrintedVerdict, number: int = 0) -> None:
    role = ROLES.get(verdict.value.role)
    words = verdict.words[:1].upper() + verdict.words[1:]
    part.remark(remark_title(number, f"{words} ({role})" if role else words), verdict.value.words)
    if verdict.origin:
        part.remark("", verdict.origin)


def _printed(grade: FinalGrade, newest: set[int]) -> PrintedProblem:
    sheet, version = MarkSheet.model_validate(grade.sheet), grade.case.version
    scheme = grade.scheme_version.content if grade.scheme_version else Scheme()
    comments = comments_shown(sheet)
    verdicts = [PrintedVerdict(one, FALLACY_WORDS[one.fallacy]) for one in sheet.verdicts]
    return PrintedProblem(
        problem=grade.case.problem,
        older=0 if version.pk in newest else version.number,
        points=grade.points,
        scale=scheme.scale,
        derivation=derivation_shown(scheme, sheet, grade.points),
        steps=_steps(version, verdicts, comments),
        whole=[comment for comment in comments if not comment.step],
        pages=pages_marked(version, verdicts, comments, lambda one: one.value),
    )


def _steps(version: SubmissionVersion, verdicts: Sequence[PrintedVerdict], comments: Sequence[Comment]) -> list[PrintedStep]:
    return [
        PrintedStep(
            number=step.number,
            text=shown_of(version.source[step.start : step.end], version.format),
            verdicts=[one for one in verdicts if one.value.step == step.number],
            comments=[one for one in comments if one.step == step.number],
        )
        for step in version.steps.all()
    ]
