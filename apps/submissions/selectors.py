"""Queries for submissions."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, Q, QuerySet, Subquery

from apps.contests.models import Contest, ContestProblem, Paper
from apps.contests.selectors import problem_list
from apps.contests.windows import is_begun
from apps.submissions.models import Scan, Submission, SubmissionVersion


@dataclass(frozen=True)
class OwnRow:
    """A problem with its author's newest version; `has_draft`: the draft differs from it."""

    problem: ContestProblem
    handed_in: SubmissionVersion | None
    has_draft: bool


@dataclass(frozen=True)
class PaperRow:
    """A paper with its version to mark for each problem in order; None for a problem without one."""

    paper: Paper
    versions: list[SubmissionVersion | None]


def own_rows(contest: Contest, paper: Paper) -> list[OwnRow]:
    """Rows of an author's work, one per problem that has begun."""
    submissions = {row.problem_id: row for row in Submission.objects.filter(paper=paper)}
    newest = {row.submission_id: row for row in versions_to_mark(contest).filter(submission__paper=paper)}
    rows = []
    for problem in filter(is_begun, problem_list(contest)):
        submission = submissions.get(problem.pk)
        handed_in = newest.get(submission.pk) if submission else None
        draft = submission.draft if submission else ""
        is_other = handed_in is None or handed_in.raw != draft
        has_pages = submission is not None and handed_in is None and scan_list(submission).exists()
        rows.append(OwnRow(problem, handed_in, (bool(draft.strip()) and is_other) or has_pages))
    return rows


def has_texts(contest: Contest) -> bool:
    """Whether a contest has a version (even withdrawn), a non-empty draft or a page."""
    begun = Submission.objects.filter(paper__contest=contest)
    return begun.filter(Q(versions__isnull=False) | Q(scans__isnull=False) | ~Q(draft="")).exists()


def versions_to_mark(contest: Contest, papers: Sequence[Paper] | None = None) -> QuerySet[SubmissionVersion]:
    """The newest version of each submission of a contest (or of `papers`), except withdrawn ones."""
    versions = SubmissionVersion.objects.filter(
        number=_latest_of("submission"), withdrawn_at=None, submission__paper__contest=contest
    )
    return versions if papers is None else versions.filter(submission__paper__in=papers)


def papers_to_mark(contest: Contest) -> QuerySet[Paper]:
    """Papers with a text to mark, by number. Listing others would reveal the number of a student who was added later."""
    latest = _latest_of("submissions")
    marked = contest.papers.filter(submissions__versions__number=latest, submissions__versions__withdrawn_at=None)
    return marked.distinct().order_by("number")


def _latest_of(submission: str) -> Subquery:
    """The number of the newest version of `submission`, a name in the outer query.

    PostgreSQL evaluates this subquery per row. It would plan `NOT EXISTS (a newer one)` as a join. With the row counts of an
    empty table, its nested loops take time cubic in the number of papers.
    """
    return Subquery(SubmissionVersion.objects.filter(submission=OuterRef(submission)).order_by("-number").values("number")[:1])


def paper_rows(contest: Contest, papers: Sequence[Paper]) -> list[PaperRow]:
    """Rows of papers with their versions to mark, in the given order."""
    problems = [row.pk for row in problem_list(contest)]
    versions = versions_to_mark(contest, papers).defer("raw", "source").select_related("submission")
    found = {(row.submission.paper_id, row.submission.problem_id): row for row in versions}
    return [PaperRow(paper, [found.get((paper.pk, key)) for key in problems]) for paper in papers]


def scan_list(submission: Submission) -> QuerySet[Scan]:
    """The pages of a draft in order, with transcriptions, without image data."""
    return submission.scans.exclude(position=None).select_related("transcription").defer("jpeg")


def version_list(submission: Submission) -> QuerySet[SubmissionVersion]:
    """The versions of a submission, newest first, without their texts."""
    return submission.versions.defer("raw", "source").order_by("-number")
