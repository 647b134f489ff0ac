"""Hand in the placed pages: one version for each paper and problem, again when its pages have changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.contests.record_keepers import event_publish
from apps.scanning.models import FileState, PageState, ScannedPage
from apps.scanning.placing import pages_placed, pages_to_assign
from apps.scanning.receiving import ScansRefused, scans_refusal
from apps.submissions.intake import PAGES_AT_MOST
from apps.submissions.models import Origin, Scan, Submission, SubmissionVersion, TextFormat, VersionScan
from apps.submissions.services import version_add


@dataclass(frozen=True)
class HandedIn:
    """How many texts were handed in, and how many pages they have."""

    texts: int
    pages: int


def hand_in(*, contest: Contest, by: User) -> HandedIn:
    """Hand in all placed pages whose text does not have them yet, text by text. Raises `ScansRefused`.

    Earlier versions are kept, and a typed text is in the new version too; the newest version counts.
    """
    if refusal := scans_refusal(contest):
        raise ScansRefused(refusal)
    if contest.scan_files.filter(state__in=(FileState.WAITING, FileState.READING)).exists():
        raise ScansRefused("Some files are still being read. Hand in when they are done.")
    if waiting := pages_to_assign(contest).count():
        left = "1 page still waits" if waiting == 1 else f"{waiting} pages still wait"
        raise ScansRefused(f"{left} in the tray. Assign what is there, or put it away first.")
    _moved_away(contest)
    texts = pages = 0
    for _, group in groupby(pages_placed(contest), key=lambda page: (page.paper_id, page.problem_id)):
        found = list(group)
        if len(found) > PAGES_AT_MOST:
            raise ScansRefused(f"A text has at most {PAGES_AT_MOST} pages; one has {len(found)}. Put some away.")
        if _text_hand_in(found):
            texts, pages = texts + 1, pages + len(found)
    if texts:
        event_publish(contest, "contest.scans-handed-in", by, texts=texts, pages=pages)
    return HandedIn(texts, pages)


@transaction.atomic
def _moved_away(contest: Contest) -> None:
    """Withdraw the newest versions all of whose pages were moved to other texts or put away since."""
    _still_open(contest)
    here = Q(state=PageState.PLACED, paper=F("scan__submission__paper"), problem=F("scan__submission__problem"))
    moved = ScannedPage.objects.filter(file__contest=contest, scan__isnull=False).exclude(here).defer("jpeg")
    rows = list(moved.select_related("scan__submission"))
    gone = {page.scan_id for page in rows}
    for text in {page.scan.submission for page in rows if page.scan is not None}:
        newest = text.versions.filter(withdrawn_at=None).order_by("-number").first()
        scans = set(newest.pages.values_list("scan", flat=True)) if newest is not None else set()
        if newest is not None and scans and scans <= gone and not newest.raw.strip():
            SubmissionVersion.objects.filter(pk=newest.pk).update(withdrawn_at=timezone.now())
    moved.update(scan=None)


def _still_open(contest: Contest) -> None:
    """Hold the contest against a beginning of its marking. Raises `ScansRefused`."""
    if refusal := scans_refusal(Contest.objects.select_for_update().get(pk=contest.pk)):
        raise ScansRefused(refusal)


@transaction.atomic
def _text_hand_in(pages: Sequence[ScannedPage]) -> bool:
    """A new version with these pages, unless the newest one has them. What the student typed or photographed stays in it."""
    _still_open(pages[0].file.contest)
    paper, problem = pages[0].paper, pages[0].problem
    assert paper is not None
    assert problem is not None
    submission, _ = Submission.objects.get_or_create(paper=paper, problem=problem)
    submission = Submission.objects.select_for_update().get(pk=submission.pk)
    newest = submission.versions.filter(withdrawn_at=None).order_by("-number").first()
    known = list(newest.pages.order_by("number").values_list("scan", flat=True)) if newest is not None else []
    own = VersionScan.objects.filter(version__submission=submission, version__origin=Origin.TYPED).values("scan")
    kept = list(Scan.objects.filter(pk__in=known).filter(pk__in=own).defer("jpeg"))
    kept.sort(key=lambda scan: known.index(scan.pk))
    if known == [*(scan.pk for scan in kept), *(page.scan_id for page in pages)]:
        return False
    scans = [*kept, *(_scan(page, submission) for page in pages)]
    text, text_format = (newest.raw, newest.format) if newest is not None else ("", TextFormat.MARKDOWN)
    version = version_add(submission=submission, text=text, text_format=text_format, origin=Origin.IMPORTED)
    VersionScan.objects.bulk_create(
        VersionScan(version=version, scan=scan, number=number) for number, scan in enumerate(scans, 1)
    )
    return True


def _scan(page: ScannedPage, submission: Submission) -> Scan:
    """The page of the text made from a scanned page: the one of before, unless its picture or its place has changed."""
    known = page.scan
    if known is not None and known.submission_id == submission.pk:
        return known
    jpeg = bytes(ScannedPage.objects.values_list("jpeg", flat=True).get(pk=page.pk))
    scan = Scan.objects.create(submission=submission, jpeg=jpeg, width=page.width, height=page.height)
    page.scan = scan
    page.save(update_fields=["scan"])
    return scan
