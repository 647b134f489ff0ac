"""Who may open which page of the contest office, and the record and the result list that it shows.

Organisers see the whole contest, captains the figures of their problems. No page of the office tells anything of a script that
is not settled: whoever opens one may have to mark it yet.
"""

import hashlib
import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import Http404

from apps.accounts.models import User
from apps.contests.access import NO_CONTEST, READABLE, coach_of, contest_get_for
from apps.contests.models import Contest, ContestProblem, Paper
from apps.contests.selectors import problem_list
from apps.marks.audit import audit
from apps.marks.leases import DRAFT_LEFT
from apps.marks.models import AuditEvent, FinalGrade
from apps.marks.statistics import SETTLED
from apps.reasoning.marking.scheme import points_text
from apps.submissions.selectors import versions_to_mark

SIGNED = "results.signed"


class SignRefused(Exception):
    """The list cannot be signed off now; the message says why."""


@dataclass(frozen=True)
class ResultRow:
    """A paper with its points in the order of the problems, None where it has no settled grade; `rank` by the total."""

    paper: Paper
    points: list[Decimal | None]
    total: Decimal
    rank: int


@dataclass(frozen=True)
class ResultList:
    """The results of a contest as they now are. `digest` names exactly this list; `missing` scripts have no grade yet."""

    problems: list[ContestProblem]
    rows: list[ResultRow]
    missing: int
    digest: str


def office_get_for(user: User, public_id: uuid.UUID) -> tuple[Contest, list[ContestProblem]]:
    """A contest being marked or closed, with the problems whose figures the person may see, or `Http404`."""
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


def grades_settled(contest: Contest) -> QuerySet[FinalGrade]:
    """The grades that hold, of settled scripts, for each text that of its newest version, in an order that tells nothing."""
    rows = FinalGrade.objects.filter(case__version__in=versions_to_mark(contest), case__state__in=SETTLED, superseded_by=None)
    return rows.select_related(
        "case__problem__problem", "case__version__submission__paper", "scheme_version__scheme", "mark", "coordination"
    ).order_by("case__version__submission__paper__number", "case__problem__position")


def result_list(contest: Contest) -> ResultList:
    """All papers with their points; equal totals share a rank."""
    problems = list(problem_list(contest))
    given: dict[int, dict[int, Decimal]] = {}
    for grade in grades_settled(contest):
        given.setdefault(grade.case.version.submission.paper_id, {})[grade.case.problem_id] = grade.points
    papers = list(contest.papers.order_by("number"))
    totals = {paper.pk: sum(given.get(paper.pk, {}).values(), Decimal(0)) for paper in papers}
    ranks: dict[Decimal, int] = {}
    for place, total in enumerate(sorted(totals.values(), reverse=True), 1):
        ranks.setdefault(total, place)
    rows = [
        ResultRow(
            paper=paper,
            points=[given.get(paper.pk, {}).get(problem.pk) for problem in problems],
            total=totals[paper.pk],
            rank=ranks[totals[paper.pk]],
        )
        for paper in papers
    ]
    rows.sort(key=lambda row: (row.rank, row.paper.number))
    return ResultList(problems, rows, _missing(contest), _digest(problems, rows))


@transaction.atomic
def results_sign(*, contest: Contest, by: User, digest: str) -> AuditEvent:
    """Put a name under the list with this digest. Raises `SignRefused` where it is no longer the list, or is not whole."""
    found = result_list(contest)
    if found.digest != digest:
        raise SignRefused("The results changed since you looked. Look at the list again.")
    if found.missing:
        raise SignRefused(f"{found.missing} script{' has' if found.missing == 1 else 's have'} no grade yet.")
    return audit(SIGNED, actor=by, contest=contest, digest=digest, papers=len(found.rows))


def signatures(contest: Contest) -> QuerySet[AuditEvent]:
    """Who signed which list, newest first."""
    return AuditEvent.objects.filter(contest=contest, verb=SIGNED).select_related("actor").order_by("-at", "-pk")


def record(contest: Contest, *, verb: str = "", number: str = "") -> QuerySet[AuditEvent]:
    """The record of a contest, newest first: what concerns no script, and scripts that are settled.

    What somebody had begun and left is theirs alone.
    """
    rows = AuditEvent.objects.filter(contest=contest).exclude(verb=DRAFT_LEFT).filter(Q(case=None) | Q(case__state__in=SETTLED))
    if verb:
        rows = rows.filter(verb=verb)
    if number:
        rows = rows.filter(case__version__submission__paper__number=number)
    return rows.select_related("actor", "case__problem", "case__version__submission__paper").order_by("-at", "-pk")


def record_verbs(contest: Contest) -> list[str]:
    """What was done in a contest, each kind once."""
    rows = AuditEvent.objects.filter(contest=contest).exclude(verb=DRAFT_LEFT)
    return sorted(set(rows.order_by().values_list("verb", flat=True)))


def _missing(contest: Contest) -> int:
    return versions_to_mark(contest).exclude(case__in=grades_settled(contest).values("case")).count()


def _digest(problems: Sequence[ContestProblem], rows: Sequence[ResultRow]) -> str:
    """sha-256 over labels, numbers and points, in hex."""
    told = [
        [problem.label for problem in problems],
        [[row.paper.number, *(None if one is None else points_text(one) for one in row.points)] for row in rows],
    ]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()
