"""The released content of a text. Each part comes from the grade of the newest active batch that includes the part.

A later grade stays hidden until a later batch, and released content stays with its version permanently.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.db.models import QuerySet

from apps.contests.models import Contest, ContestProblem, ContestState
from apps.marks.models import FinalGrade, ReleaseBatch, ReleasedGrade, ReleasePart
from apps.marks.page_marks import PageMarked, pages_marked
from apps.reasoning.marking.schemes.scheme import Scheme, points_text
from apps.reasoning.marking.sheets.pages import page_step, place_words
from apps.reasoning.marking.sheets.sheet import Comment, MarkSheet, Role, StepVerdict
from apps.reasoning.marking.sheets.student_view import (
    ORIGINS,
    ItemShown,
    comments_shown,
    derivation_shown,
    items_ticked,
    items_written,
    remarks_ticked,
)
from apps.results.words import FALLACIES, ROLES
from apps.submissions.models import Step, SubmissionVersion

FEWEST_FOR_STATISTICS = 5  # With fewer texts, students could identify each other's points.

Parts = Mapping[str, FinalGrade]


@dataclass(frozen=True)
class VerdictShown:
    """A verdict in words for students; `follows` is the step of its root, or None.

    `origin`: who found it, if not the marker.
    """

    value: StepVerdict
    fallacy: str
    role: str
    follows: int | None

    @property
    def origin(self) -> str:
        return ORIGINS.get(self.value.origin, "")


@dataclass(frozen=True)
class StepShown:
    """A step of the text with its remarks."""

    number: int
    text: str
    verdicts: list[VerdictShown] = field(default_factory=list)
    comments: list[Comment] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """The id of the step, or of the page, in the result's page."""
        return place_words(self.number).replace(" ", "-")

    @property
    def is_faulty(self) -> bool:
        return any(one.value.role != "harmless" for one in self.verdicts)


@dataclass(frozen=True)
class Result:
    """The released results of one text. Unreleased parts are empty or None."""

    version: SubmissionVersion
    pages: list[PageMarked[VerdictShown]]
    steps: list[StepShown]
    whole: list[Comment]
    remarks: tuple[str, ...]
    points: str | None
    scale: str | None
    derivation: str
    items: tuple[ItemShown, ...]
    scheme: tuple[ItemShown, ...]
    parts: frozenset[str]

    @property
    def is_empty(self) -> bool:
        """Whether nothing of this text was released."""
        return not self.parts


@dataclass(frozen=True)
class Spread:
    """Number of texts by points; `rows` is empty if there are too few texts."""

    problem: ContestProblem
    count: int
    rows: list[tuple[str, int]]

    @property
    def most(self) -> int:
        return max((count for _, count in self.rows), default=1)


def results_awaited(version: SubmissionVersion) -> bool:
    """Whether the results of this text are still to come, so that hints could reveal the marker's thoughts.

    After the release, re-marks, calibration and appeals neither hold back hints nor become visible to the author.
    """
    if version.submission.paper.contest.state not in (ContestState.MARKING, ContestState.CLOSED):
        return False
    return not ReleasedGrade.objects.filter(batch__undone_at=None, grade__case__version=version).exists()


def batches_active(contest: Contest) -> list[ReleaseBatch]:
    """The batches that were not taken back, oldest first."""
    return list(contest.releases.filter(undone_at=None).order_by("released_at", "pk"))


def parts_released(contest: Contest) -> set[str]:
    """The parts that any active batch includes."""
    return {part for batch in batches_active(contest) for part in batch.parts}


def parts_of(versions: Iterable[SubmissionVersion]) -> dict[int, dict[str, FinalGrade]]:
    """By version key and part, the grade that is shown. Versions without released parts are absent."""
    rows = ReleasedGrade.objects.filter(batch__undone_at=None, grade__case__version__in=list(versions))
    rows = rows.select_related("batch", "grade__scheme_version", "grade__case")
    shown: dict[int, dict[str, FinalGrade]] = {}
    for row in rows.order_by("batch__released_at", "batch__pk"):
        for part in row.batch.parts:
            shown.setdefault(row.grade.case.version_id, {})[part] = row.grade
    return shown


def grades_shown(contest: Contest, part: str) -> dict[int, int]:
    """By key of the case, the key of the grade whose `part` students see."""
    rows = ReleasedGrade.objects.filter(batch__contest=contest, batch__undone_at=None)
    columns = rows.order_by("batch__released_at", "batch__pk").values_list("grade__case", "grade", "batch__parts")
    return {case: grade for case, grade, parts in columns if part in parts}


def shown_since(grade: FinalGrade, part: str) -> datetime | None:
    """When an active batch first showed this part of this grade."""
    rows = ReleasedGrade.objects.filter(batch__undone_at=None, grade=grade).select_related("batch")
    moments = [row.batch.released_at for row in rows if part in row.batch.parts]
    return min(moments, default=None)


def result_of(version: SubmissionVersion, parts: Parts) -> Result:
    """The content of a text that these parts show."""
    comments = _sheet(parts.get(ReleasePart.COMMENTS))
    verdicts = _sheet(parts.get(ReleasePart.VERDICTS))
    graded, written = parts.get(ReleasePart.POINTS), parts.get(ReleasePart.SCHEME)
    steps = [StepShown(step.number, step.text) for step in _steps(version)]
    by_number = {step.number: step for step in steps}
    found = [verdict_shown(verdict, verdicts) for verdict in verdicts.verdicts]
    pages = pages_marked(version, found, comments_shown(comments), lambda one: one.value)
    on_pages = {page_step(one.page.number) for one in pages}
    whole: list[Comment] = []
    for comment in comments_shown(comments):
        if comment.step not in on_pages:
            (by_number[comment.step].comments if comment.step in by_number else whole).append(comment)
    for verdict in found:
        if verdict.value.step in by_number:
            by_number[verdict.value.step].verdicts.append(verdict)
    commented = parts.get(ReleasePart.COMMENTS)
    remarks = remarks_ticked(_scheme(commented), comments) if commented and commented.scheme_version else ()
    scheme = _scheme(graded) if graded else None
    return Result(
        version=version,
        pages=pages,
        steps=steps,
        whole=whole,
        remarks=remarks,
        points=points_text(graded.points) if graded else None,
        scale=points_text(scheme.scale) if scheme else None,
        derivation=derivation_shown(scheme, _sheet(graded), graded.points) if graded and scheme else "",
        items=items_ticked(scheme, _sheet(graded)) if scheme else (),
        scheme=items_written(_scheme(written), _sheet(written)) if written else (),
        parts=frozenset(parts),
    )


def verdict_shown(verdict: StepVerdict, sheet: MarkSheet) -> VerdictShown:
    """A verdict in words for students."""
    root = next((one for one in sheet.verdicts if one.id == verdict.root), None) if verdict.root else None
    is_alone = verdict.role is Role.ROOT and all(one.root != verdict.id for one in sheet.verdicts)
    role = Role.INDEPENDENT if is_alone else verdict.role
    return VerdictShown(verdict, FALLACIES[verdict.fallacy], ROLES[role], root.step if root else None)


def spreads_of(contest: Contest) -> list[Spread]:
    """The released distribution of points by problem, each text once; empty if no batch has statistics."""
    batch = next((one for one in reversed(batches_active(contest)) if ReleasePart.STATISTICS in one.parts), None)
    if batch is None:
        return []
    newest: dict[int, FinalGrade] = {}
    for row in batch.grades.select_related("grade__case__version").order_by("grade__case__version__number"):
        newest[row.grade.case.version.submission_id] = row.grade
    points: dict[int, list[Decimal]] = {}
    for grade in newest.values():
        points.setdefault(grade.case.problem_id, []).append(grade.points)
    return [_spread(problem, points.get(problem.pk, [])) for problem in contest.problems.all()]


def _spread(problem: ContestProblem, points: list[Decimal]) -> Spread:
    if len(points) < FEWEST_FOR_STATISTICS:
        return Spread(problem, len(points), [])
    return Spread(problem, len(points), [(points_text(one), points.count(one)) for one in sorted(set(points))])


def _steps(version: SubmissionVersion) -> QuerySet[Step]:
    return version.steps.select_related("version").order_by("number")


def _sheet(grade: FinalGrade | None) -> MarkSheet:
    return MarkSheet.model_validate(grade.sheet) if grade is not None else MarkSheet()


def _scheme(grade: FinalGrade | None) -> Scheme:
    """The scheme of a grade; an empty one if there was none."""
    return grade.scheme_version.content if grade is not None and grade.scheme_version is not None else Scheme()
