"""Write operations of scans: add, reorder, replace, reassign and remove pages of a draft."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max

from apps.contests.models import ContestKind, ContestProblem, Paper
from apps.contests.services import ContestRefused
from apps.contests.windows import writing_refusal
from apps.submissions.intake import PAGES_AT_MOST, PageImage
from apps.submissions.models import Scan, Submission, Transcription

SCANS_OF_A_PAPER = 400


@transaction.atomic
def scans_add(*, paper: Paper, problem: ContestProblem, pages: Sequence[PageImage]) -> None:
    """Append pages to a draft. Raises `ContestRefused` outside the time window and above the page limits."""
    _may_write(problem)
    submission, _ = Submission.objects.get_or_create(paper=paper, problem=problem)
    if submission.scans.exclude(position=None).count() + len(pages) > PAGES_AT_MOST:
        raise ContestRefused(f"No pages were added: a problem has at most {PAGES_AT_MOST} pages.")
    in_contest = paper.contest.kind != ContestKind.PRACTICE
    if in_contest and Scan.objects.filter(submission__paper=paper).count() + len(pages) > SCANS_OF_A_PAPER:
        raise ContestRefused(f"No pages were added: a paper has at most {SCANS_OF_A_PAPER} pages.")
    first = _next(submission)
    Scan.objects.bulk_create(
        Scan(submission=submission, position=first + index, jpeg=page.jpeg, width=page.width, height=page.height)
        for index, page in enumerate(pages)
    )


@transaction.atomic
def scan_remove(*, scan: Scan) -> None:
    """Remove a page from the draft; versions keep it. Raises `ContestRefused`."""
    _may_write(scan.submission.problem)
    if scan.pages.exists():
        Scan.objects.filter(pk=scan.pk).update(position=None)
    else:
        scan.delete()


@transaction.atomic
def scan_place(*, scan: Scan, number: int) -> None:
    """Move a page to the place `number` of its draft, counted from 1 and limited to the ends. Raises `ContestRefused`."""
    _may_write(scan.submission.problem)
    kept = list(scan.submission.scans.exclude(position=None).exclude(pk=scan.pk))
    kept.insert(min(max(number - 1, 0), len(kept)), scan)
    for position, one in enumerate(kept, 1):
        one.position = position
    Scan.objects.bulk_update(kept, ["position"])


def place_of(scan: Scan) -> int:
    """The place of a page in its draft, counted from 1."""
    return scan.submission.scans.filter(position__lt=scan.position).count() + 1


@transaction.atomic
def scan_replace(*, scan: Scan, page: PageImage) -> None:
    """Put another image in the place of a page, as a new row with the same proposal; versions keep the old page.

    Raises `ContestRefused`.
    """
    paper, problem = scan.submission.paper, scan.submission.problem
    _may_write(problem)
    old = Scan.objects.select_for_update().filter(pk=scan.pk).exclude(position=None).first()
    if old is None:
        raise ContestRefused("The page was not changed: it was removed or changed in another window.")
    if old.pages.exists() and Scan.objects.filter(submission__paper=paper).count() >= SCANS_OF_A_PAPER:
        raise ContestRefused(f"The page was not changed: a paper has at most {SCANS_OF_A_PAPER} pages.")
    new = Scan.objects.create(
        submission=scan.submission, position=old.position, jpeg=page.jpeg, width=page.width, height=page.height
    )
    Transcription.objects.filter(scan=old).update(scan=new)
    scan_remove(scan=old)


@transaction.atomic
def scan_assign(*, scan: Scan, problem: ContestProblem) -> None:
    """Append a page to another problem of the same paper. Raises `ContestRefused`."""
    paper = scan.submission.paper
    if problem.contest_id != paper.contest_id:
        raise ContestRefused("The page was not moved: the problem belongs to another contest.")
    if problem.pk == scan.submission.problem_id:
        return
    scans_add(paper=paper, problem=problem, pages=[PageImage(bytes(scan.jpeg), scan.width, scan.height)])
    moved = Scan.objects.filter(submission__paper=paper, submission__problem=problem).latest("position")
    Transcription.objects.filter(scan=scan).update(scan=moved)
    scan_remove(scan=scan)


def _next(submission: Submission) -> int:
    return (submission.scans.aggregate(last=Max("position"))["last"] or 0) + 1


def _may_write(problem: ContestProblem) -> None:
    if refusal := writing_refusal(problem):
        raise ContestRefused(refusal)
