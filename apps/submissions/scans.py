"""Writes of scans: pages come in, change their order, go to the problem they belong to, or are taken out of the draft."""

from collections.abc import Sequence

from django.db import transaction
from django.db.models import Max

from apps.contests.models import ContestProblem, Paper
from apps.contests.services import ContestRefused, hand_in_refusal
from apps.submissions.intake import PAGES_AT_MOST, PageImage
from apps.submissions.models import Scan, Submission, Transcription

SCANS_OF_A_PAPER = 400


@transaction.atomic
def scans_add(*, paper: Paper, problem: ContestProblem, pages: Sequence[PageImage]) -> None:
    """Put pages at the end of a draft. Raises `ContestRefused` outside the window and for too many."""
    _may_write(paper)
    submission, _ = Submission.objects.get_or_create(paper=paper, problem=problem)
    if submission.scans.exclude(position=None).count() + len(pages) > PAGES_AT_MOST:
        raise ContestRefused(f"A problem has at most {PAGES_AT_MOST} pages.")
    if Scan.objects.filter(submission__paper=paper).count() + len(pages) > SCANS_OF_A_PAPER:
        raise ContestRefused(f"You have uploaded {SCANS_OF_A_PAPER} pages, which is the limit.")
    first = _next(submission)
    Scan.objects.bulk_create(
        Scan(submission=submission, position=first + index, jpeg=page.jpeg, width=page.width, height=page.height)
        for index, page in enumerate(pages)
    )


@transaction.atomic
def scan_remove(*, scan: Scan) -> None:
    """Take a page out of the draft; versions that have it keep it. Raises `ContestRefused`."""
    _may_write(scan.submission.paper)
    if scan.pages.exists():
        Scan.objects.filter(pk=scan.pk).update(position=None)
    else:
        scan.delete()


@transaction.atomic
def scan_earlier(*, scan: Scan) -> None:
    """Swap a page with the one before it. Raises `ContestRefused`."""
    _may_write(scan.submission.paper)
    before = scan.submission.scans.filter(position__lt=scan.position).order_by("-position").first()
    if before is not None:
        Scan.objects.filter(pk=scan.pk).update(position=before.position)
        Scan.objects.filter(pk=before.pk).update(position=scan.position)


@transaction.atomic
def scan_assign(*, scan: Scan, problem: ContestProblem) -> None:
    """Give a page to another problem of the same paper, at its end. Raises `ContestRefused`."""
    paper = scan.submission.paper
    if problem.contest_id != paper.contest_id:
        raise ContestRefused("The problem is of another contest.")
    if problem.pk == scan.submission.problem_id:
        return
    scans_add(paper=paper, problem=problem, pages=[PageImage(bytes(scan.jpeg), scan.width, scan.height)])
    moved = Scan.objects.filter(submission__paper=paper, submission__problem=problem).latest("position")
    Transcription.objects.filter(scan=scan).update(scan=moved)
    scan_remove(scan=scan)


def _next(submission: Submission) -> int:
    return (submission.scans.aggregate(last=Max("position"))["last"] or 0) + 1


def _may_write(paper: Paper) -> None:
    if refusal := hand_in_refusal(paper.contest):
        raise ContestRefused(refusal)
