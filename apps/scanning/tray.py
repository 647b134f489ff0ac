"""Assign, turn and put away pages by hand."""

from collections.abc import Iterable

from django.db import transaction

from apps.contests.models import ContestProblem, Paper
from apps.scanning.models import PageState, PlacedBy, ScannedPage
from apps.scanning.placing import PUT_BACK
from apps.scanning.receiving import ScansRefused, scans_refusal
from apps.submissions.intake import Cut, PageImage, UploadWrong, pages_read


@transaction.atomic
def page_assign(*, page: ScannedPage, paper: Paper, problem: ContestProblem) -> ScannedPage:
    """Place a page by hand, after the pages that the paper has there. Raises `ScansRefused`."""
    contest = _changeable(page)
    if paper.contest_id != contest or problem.contest_id != contest:
        raise ScansRefused("Choose a student and a problem of this contest.")
    if not page.height:
        raise ScansRefused("This page could not be read, so it cannot be handed in. Scan it again, then put it away here.")
    page.paper, page.problem, page.state, page.placed_by, page.reason = paper, problem, PageState.PLACED, PlacedBy.HAND, ""
    page.save(update_fields=["paper", "problem", "state", "placed_by", "reason"])
    return page


@transaction.atomic
def pages_assign(*, pages: Iterable[ScannedPage], paper: Paper, problem: ContestProblem) -> int:
    """Place several pages at one place by hand, all or none; return their number. Raises `ScansRefused`."""
    return len([page_assign(page=page, paper=paper, problem=problem) for page in pages])


@transaction.atomic
def page_put(*, page: ScannedPage, state: PageState) -> ScannedPage:
    """Put a page away, call it blank, or back into the tray. Raises `ScansRefused`."""
    _changeable(page)
    if state not in (PageState.DISCARDED, PageState.BLANK, PageState.TRAY):
        raise ScansRefused("A page can be put away, called blank, or back into the tray.")
    page.state, page.placed_by = state, PlacedBy.HAND
    page.reason = PUT_BACK if state == PageState.TRAY else ""
    page.save(update_fields=["state", "placed_by", "reason"])
    return page


def page_turn(*, page: ScannedPage, degrees: int) -> ScannedPage:
    """Turn a page clockwise by 90, 180 or 270 degrees. Raises `ScansRefused`."""
    _changeable(page)
    if not page.height:
        raise ScansRefused("This page could not be read, so it has no picture.")
    try:
        turned: PageImage = pages_read(bytes(page.jpeg), cut=Cut(turn=degrees))[0]
    except UploadWrong as error:
        raise ScansRefused(str(error)) from error
    page.jpeg, page.width, page.height = turned.jpeg, turned.width, turned.height
    page.turned = (page.turned + degrees) % 360
    page.scan = None  # A version keeps the page that was handed in; the next one gets this one.
    page.save(update_fields=["jpeg", "width", "height", "turned", "scan"])
    return page


def _changeable(page: ScannedPage) -> int:
    contest = page.file.contest
    if refusal := scans_refusal(contest):
        raise ScansRefused(refusal)
    return contest.pk
