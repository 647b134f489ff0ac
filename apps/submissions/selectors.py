"""Reads of submissions."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import OuterRef, Q, QuerySet, Subquery

from apps.contests.models import Contest, ContestProblem, Paper
from apps.contests.selectors import problem_list
from apps.submissions.models import Scan, Submission, SubmissionVersion


@dataclass(frozen=True)
class OwnRow:
    """A problem as its author sees it: the newest version handed in, and whether the draft says something else."""

    problem: ContestProblem
    handed_in: SubmissionVersion | None
    has_draft: bool


@dataclass(frozen=True)
class PaperRow:
    """A paper by number with the version to mark of each problem, in the order of the problems; None where there is none."""

    paper: Paper
    versions: list[SubmissionVersion | None]


def own_rows(contest: Contest, paper: Paper) -> list[OwnRow]:
    """An author's work on every problem."""
    submissions = {row.problem_id: row for row in Submission.objects.filter(paper=paper)}
    newest = {row.submission_id: row for row in versions_to_mark(contest).filter(submission__paper=paper)}
    rows = []
    for problem in problem_list(contest):
        submission = submissions.get(problem.pk)
        handed_in = newest.get(submission.pk) if submission else None
        draft = submission.draft if submission else ""
        is_other = handed_in is None or handed_in.raw != draft
        has_pages = submission is not None and handed_in is None and scan_list(submission).exists()
        rows.append(OwnRow(problem, handed_in, (bool(draft.strip()) and is_other) or has_pages))
    return rows


def has_texts(contest: Contest) -> bool:
    """Whether a contest holds a text: handed in, withdrawn, only begun, or a page."""
    begun = Submission.objects.filter(paper__contest=contest)
    return begun.filter(Q(versions__isnull=False) | Q(scans__isnull=False) | ~Q(draft="")).exists()


def versions_to_mark(contest: Contest, papers: Sequence[Paper] | None = None) -> QuerySet[SubmissionVersion]:
    """The newest version of every submission of a contest, or of some of its papers, unless it was withdrawn."""
    versions = SubmissionVersion.objects.filter(
        number=_latest_of("submission"), withdrawn_at=None, submission__paper__contest=contest
    )
    return versions if papers is None else versions.filter(submission__paper__in=papers)


def papers_to_mark(contest: Contest) -> QuerySet[Paper]:
    """The papers that hold a text to mark, by number. Others stay out: who is entered later would be told by a number more."""
    latest = _latest_of("submissions")
    marked = contest.papers.filter(submissions__versions__number=latest, submissions__versions__withdrawn_at=None)
    return marked.distinct().order_by("number")


def _latest_of(submission: str) -> Subquery:
    """The number of the newest version of `submission`, a name in the outer query.

    PostgreSQL looks it up row by row. It would join `NOT EXISTS (a newer one)`: planned by the row counts of an empty table,
    the nested loops take time cubic in the number of papers.
    """
    return Subquery(SubmissionVersion.objects.filter(submission=OuterRef(submission)).order_by("-number").values("number")[:1])


def paper_rows(contest: Contest, papers: Sequence[Paper]) -> list[PaperRow]:
    """Papers of a contest with what is to be marked, in their order."""
    problems = [row.pk for row in problem_list(contest)]
    versions = versions_to_mark(contest, papers).defer("raw", "source").select_related("submission")
    found = {(row.submission.paper_id, row.submission.problem_id): row for row in versions}
    return [PaperRow(paper, [found.get((paper.pk, key)) for key in problems]) for paper in papers]


def scan_list(submission: Submission) -> QuerySet[Scan]:
    """The pages of a draft in order, with what a model read on them, without their pictures."""
    return submission.scans.exclude(position=None).select_related("transcription").defer("jpeg")


def version_list(submission: Submission) -> QuerySet[SubmissionVersion]:
    """The versions of a submission, newest first, without their texts."""
    return submission.versions.defer("raw", "source").order_by("-number")
