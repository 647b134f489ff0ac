"""Access to the contest office, its record and its result list.

Organisers see the whole contest, captains see the figures of their problems. Scripts that are not settled stay hidden, because
the reader may still have to mark them. So do problems that the reader is marking (`blindness`).
"""

import hashlib
import json
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404

from apps.accounts.models import User
from apps.contests.access import NO_CONTEST, READABLE, coach_of, contest_get_for, papers_by_models
from apps.contests.models import Contest, ContestProblem, Paper
from apps.contests.selectors import problem_list
from apps.marks.audit import audit
from apps.marks.blindness import own_marks_require
from apps.marks.leases import DRAFT_LEFT
from apps.marks.models import AuditEvent, FinalGrade, ReleasedGrade
from apps.marks.office.statistics import SETTLED
from apps.reasoning.marking.schemes.scheme import Scheme, points_text
from apps.submissions.models import SubmissionVersion
from apps.submissions.selectors import papers_to_mark, versions_to_mark

SIGNED = "results.signed"


class SignRefused(Exception):
    """The list cannot be signed off now; the message gives the reason."""


@dataclass(frozen=True)
class ResultCell:
    """The result of a paper on one problem.

    `points`: None without a settled grade. `older`: version that the points belong to, 0 for the newest. `waits`: a submitted
    text has no grade of its own yet. `is_full`: all points of the scheme.
    """

    points: Decimal | None = None
    older: int = 0
    waits: bool = False
    is_full: bool = False


@dataclass(frozen=True)
class ResultRow:
    """A paper with its problems in order. `total` and `rank` (by total) are None while a text has no points at all.

    `is_model`: written by a model, known once the list is signed off. Such a paper has no rank and no award.
    """

    paper: Paper
    cells: list[ResultCell]
    rank: int | None = None
    is_model: bool = False

    @property
    def points(self) -> list[Decimal | None]:
        return [cell.points for cell in self.cells]

    @property
    def total(self) -> Decimal | None:
        if any(cell.waits and cell.points is None for cell in self.cells):
            return None
        return sum((cell.points for cell in self.cells if cell.points is not None), Decimal(0))

    @property
    def total_words(self) -> str:
        """The total as people write it; a dash for none, which is never 0."""
        return "–" if self.total is None else points_text(self.total)

    @property
    def contends(self) -> bool:
        """Whether the paper counts for ranks and awards."""
        return self.total is not None and not self.is_model

    @property
    def has_full(self) -> bool:
        """Whether a problem has all its points."""
        return any(cell.is_full for cell in self.cells)

    def unmarked(self, problems: Sequence[ContestProblem]) -> list[str]:
        """Labels of the problems with a text but without points. Such a paper has no total and no rank."""
        return [problem.label for problem, cell in zip(problems, self.cells, strict=True) if cell.waits and cell.points is None]


@dataclass(frozen=True)
class ResultList:
    """The current results of a contest. `digest` identifies exactly this list; `missing` scripts have no grade yet.

    `scales`: the most points by key of the problem, where a script of it was marked. `is_signed`: the list is signed off.
    """

    problems: list[ContestProblem]
    rows: list[ResultRow]
    missing: int
    digest: str
    scales: dict[int, Decimal] = field(default_factory=dict)
    is_signed: bool = False

    @property
    def models(self) -> int:
        """How many papers are left out of ranks and awards because models wrote them; 0 before the sign-off."""
        return sum(row.is_model for row in self.rows)

    @property
    def unranked(self) -> list[tuple[Paper, list[str]]]:
        """The papers without a total and a rank, with the labels of their problems that are not marked."""
        return [(row.paper, row.unmarked(self.problems)) for row in self.rows if row.total is None]


def office_get_for(user: User, public_id: uuid.UUID) -> tuple[Contest, list[ContestProblem]]:
    """A contest being marked or closed, with the problems whose figures the user may see, or `Http404`."""
    contest = contest_get_for(user, public_id)
    coach = coach_of(user, contest)
    if coach is None or contest.state not in READABLE:
        raise Http404(NO_CONTEST)
    problems = [row for row in problem_list(contest) if coach.is_organiser or row.captain_id == user.pk]
    if not problems:
        raise Http404(NO_CONTEST)
    return contest, problems


def office_organised_for(user: User, public_id: uuid.UUID) -> Contest:
    """The same for an organiser, or `Http404`."""
    contest, _ = office_get_for(user, public_id)
    coach = coach_of(user, contest)
    if coach is None or not coach.is_organiser:
        raise Http404(NO_CONTEST)
    return contest


def office_results_for(user: User, public_id: uuid.UUID) -> Contest:
    """The same for lists of all papers. Raises `OwnMarksOpen` while a mark of this organiser can still change."""
    contest = office_organised_for(user, public_id)
    own_marks_require(user, *problem_list(contest))
    return contest


def grades_settled(contest: Contest) -> QuerySet[FinalGrade]:
    """The current grades of settled scripts, one per text, in an order that reveals nothing.

    For each text, the grade of its newest version. Until that version has one, the released grade of the newest older version
    applies, as it does for the author.
    """
    released = ReleasedGrade.objects.filter(batch__undone_at=None, grade__case=OuterRef("case"))
    rows = FinalGrade.objects.filter(
        Q(case__version__in=versions_to_mark(contest)) | Exists(released),
        case__problem__contest=contest,
        case__version__withdrawn_at=None,
        case__state__in=SETTLED,
        superseded_by=None,
    )
    of_same_text = Q(
        case__version__submission=OuterRef("case__version__submission"),
        case__version__number__gt=OuterRef("case__version__number"),
    )
    return (
        rows.filter(~Exists(rows.filter(of_same_text)))
        .select_related(
            "case__problem__problem", "case__version__submission__paper", "scheme_version__scheme", "mark", "coordination"
        )
        .order_by("case__version__submission__paper__number", "case__problem__position")
    )


def result_list(contest: Contest) -> ResultList:
    """The papers with at least one text, and their points; equal totals share a rank.

    Once the list is signed off, papers by models follow without a rank. Before that, the kind of an author is secret.
    """
    problems = list(problem_list(contest))
    waiting = _waiting(contest)
    cells = {key: ResultCell(waits=True) for key in waiting.values_list("submission__paper", "submission__problem")}
    newest = set(versions_to_mark(contest).values_list("pk", flat=True))
    scales: dict[int | None, Decimal] = {None: Scheme().scale}
    most: dict[int, Decimal] = {}
    for grade in grades_settled(contest):
        version, key = grade.case.version, (grade.case.version.submission.paper_id, grade.case.problem_id)
        if grade.scheme_version is not None and grade.scheme_version_id not in scales:
            scales[grade.scheme_version_id] = grade.scheme_version.content.scale
        scale = most[grade.case.problem_id] = scales[grade.scheme_version_id]
        is_full = grade.points == scale
        cells[key] = ResultCell(
            grade.points, 0 if version.pk in newest else version.number, waits=key in cells, is_full=is_full
        )
    listed = contest.papers.filter(Q(pk__in=papers_to_mark(contest)) | Q(pk__in={paper for paper, _ in cells}))
    rows = [
        ResultRow(paper, [cells.get((paper.pk, problem.pk), ResultCell()) for problem in problems])
        for paper in listed.order_by("number")
    ]
    rows, missing = _ranked(rows), waiting.count()
    digest = _digest(problems, rows)
    is_signed = not missing and signatures(contest).filter(body__digest=digest).exists()
    if is_signed and (models := papers_by_models(contest)):
        rows = _ranked([replace(row, is_model=row.paper.pk in models) for row in rows])
    return ResultList(problems, rows, missing, digest, most, is_signed)


def _ranked(rows: list[ResultRow]) -> list[ResultRow]:
    """Sorted by rank and number; rows without a rank come last."""
    ranks: dict[Decimal, int] = {}
    totals = [row.total for row in rows if row.total is not None and row.contends]
    for place, total in enumerate(sorted(totals, reverse=True), 1):
        ranks.setdefault(total, place)
    found = [replace(row, rank=ranks[row.total] if row.total is not None and row.contends else None) for row in rows]
    return sorted(found, key=lambda row: (row.rank is None, row.rank or 0, row.paper.number))


@transaction.atomic
def results_sign(*, contest: Contest, by: User, digest: str) -> AuditEvent:
    """Sign the list with this digest. Raises `SignRefused` if the list has changed or is incomplete."""
    found = result_list(contest)
    if found.digest != digest:
        raise SignRefused("The results changed since you looked, so nothing was signed. Check the new list first.")
    if found.missing:
        raise SignRefused(
            f"Nothing was signed: {found.missing} script{' has' if found.missing == 1 else 's have'} no grade yet."
        )
    return audit(SIGNED, actor=by, contest=contest, digest=digest, papers=len(found.rows))


def signatures(contest: Contest) -> QuerySet[AuditEvent]:
    """The signatures of a contest, newest first."""
    return AuditEvent.objects.filter(contest=contest, verb=SIGNED).select_related("actor").order_by("-at", "-pk")


def record(contest: Contest, *, verb: str = "", number: str = "", without: Collection[int] = ()) -> QuerySet[AuditEvent]:
    """The record of a contest, newest first: events about no script, and about settled scripts of problems not in `without`.

    Drafts that markers left are excluded.
    """
    rows = AuditEvent.objects.filter(contest=contest).exclude(verb=DRAFT_LEFT).filter(Q(case=None) | Q(case__state__in=SETTLED))
    rows = rows.exclude(case__problem__in=without)
    if verb:
        rows = rows.filter(verb=verb)
    if number:
        rows = rows.filter(case__version__submission__paper__number=number)
    return rows.select_related("actor", "case__problem", "case__version__submission__paper").order_by("-at", "-pk")


def record_verbs(contest: Contest) -> list[str]:
    """The kinds of events in a contest, without duplicates."""
    rows = AuditEvent.objects.filter(contest=contest).exclude(verb=DRAFT_LEFT)
    return sorted(set(rows.order_by().values_list("verb", flat=True)))


def _waiting(contest: Contest) -> QuerySet[SubmissionVersion]:
    """Newest versions without a grade of their own."""
    return versions_to_mark(contest).exclude(case__in=grades_settled(contest).values("case"))


def _digest(problems: Sequence[ContestProblem], rows: Sequence[ResultRow]) -> str:
    """SHA-256 over labels, numbers, points and waiting texts, in hex."""
    listed = [[problem.label for problem in problems], [[row.paper.number, *map(_cell_listed, row.cells)] for row in rows]]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def _cell_listed(cell: ResultCell) -> str | list[str | None] | None:
    """A cell in the digest: points, None without a text, and a list of the same for a text that waits for its grade."""
    points = None if cell.points is None else points_text(cell.points)
    return [points] if cell.waits else points
