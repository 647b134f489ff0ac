"""Decide where the pages of a file belong: by their codes, by cover sheets, else by the file's name.

No page is placed by likeness. A page with two codes, with a code of another contest or with a code that another page has waits
in the tray, like all unsure ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction

from apps.contests.models import Contest
from apps.scanning.codes import PageCode, code_of
from apps.scanning.likeness import is_same_page
from apps.scanning.models import PageState, PlacedBy, ScanFile, ScannedPage, SheetCode
from apps.scanning.naming import Guess, Names

#: A page with a smaller share of ink is blank: dust and the edge of the paper have some.
BLANK_INK = 0.0004
NO_CODE = "No page code was read."
TWO_CODES = "Two sheets are on this page."
FOREIGN = "This sheet belongs to another contest."
UNKNOWN = "This code is not known. Was the student or the problem removed?"
SAME_SHEET = "Another page has the same code."
NO_PROBLEM = "The problem is not known."
LATER = "This page follows a sheet with a code."


@dataclass
class _Place:
    """Where pages without a code belong, after a cover sheet or a coded page."""

    paper: int | None = None
    problem: int | None = None
    is_cover: bool = False


class _Codes:
    """The codes of a contest: papers by token, keys of problems."""

    def __init__(self, contest: Contest) -> None:
        self.contest = contest
        self.papers = dict(SheetCode.objects.filter(paper__contest=contest).values_list("token", "paper"))
        self.problems = set(contest.problems.values_list("pk", flat=True))

    def trouble(self, code: PageCode) -> str:
        """Why a code places nothing; empty if it does."""
        if code.token not in self.papers:
            return FOREIGN if SheetCode.objects.filter(token=code.token).exists() else UNKNOWN
        return "" if code.problem in self.problems or (code.is_cover and not code.problem) else UNKNOWN


@transaction.atomic
def file_place(file: ScanFile) -> None:
    """Place the pages of a file that was read, in their order."""
    codes, guess = _Codes(file.contest), Names(file.contest).guess(file.path)
    place = _Place()
    for page in file.scanned.filter(state=PageState.READ).defer("jpeg").order_by("number"):
        _page_place(page, codes, guess, place)
        page.reason = page.reason[:300]
        page.save(update_fields=["state", "placed_by", "paper", "problem", "sheet", "reason"])


def _page_place(page: ScannedPage, codes: _Codes, guess: Guess, place: _Place) -> None:
    found = [code for text in page.code.split() if (code := code_of(text)) is not None]
    page.state = PageState.TRAY
    if len(found) > 1:
        page.reason = TWO_CODES
    elif found and (trouble := codes.trouble(found[0])):
        page.reason = trouble
    elif found:
        _by_code(page, found[0], codes, place)
    elif page.reason:
        page.paper_id, page.problem_id = place.paper or guess.paper, place.problem or guess.problem
    elif page.ink < BLANK_INK:
        page.state = PageState.BLANK
    elif place.paper:
        _by_neighbour(page, place)
    else:
        _by_name(page, guess)


def _by_code(page: ScannedPage, code: PageCode, codes: _Codes, place: _Place) -> None:
    page.paper_id, page.problem_id, page.sheet = codes.papers[code.token], code.problem or None, code.page
    place.paper, place.problem, place.is_cover = page.paper_id, page.problem_id, code.is_cover
    if code.is_cover:
        page.state = PageState.COVER
        return
    same = ScannedPage.objects.filter(paper=page.paper_id, problem=page.problem_id, sheet=code.page).exclude(pk=page.pk)
    first = same.filter(state__in=(PageState.PLACED, PageState.BLANK)).first()
    if first is not None:
        is_copy = is_same_page(first.likeness, page.likeness)
        page.state, page.reason = (
            (PageState.DUPLICATE, f"The same page as in {first.file.name}.") if is_copy else (PageState.TRAY, SAME_SHEET)
        )
        return
    page.state, page.placed_by = (PageState.BLANK if page.ink < BLANK_INK else PageState.PLACED), PlacedBy.CODE


def _by_neighbour(page: ScannedPage, place: _Place) -> None:
    page.paper_id, page.problem_id = place.paper, place.problem
    if place.is_cover and place.problem:
        page.state, page.placed_by = PageState.PLACED, PlacedBy.COVER
    else:
        page.reason = NO_PROBLEM if place.is_cover else LATER


def _by_name(page: ScannedPage, guess: Guess) -> None:
    page.paper_id, page.problem_id = guess.paper, guess.problem
    if guess.paper and guess.problem:
        page.state, page.placed_by = PageState.PLACED, PlacedBy.NAME
        page.sheet = guess.page if page.file.pages <= 1 else 0
    else:
        page.reason = f"{NO_CODE} {guess.unknown or NO_PROBLEM}"


@transaction.atomic
def files_place_again(contest: Contest) -> int:
    """Place pages of the tray again, as after students were added; returns how many left the tray."""
    waiting = ScannedPage.objects.filter(file__contest=contest, state=PageState.TRAY)
    before = waiting.count()
    files = list(ScanFile.objects.filter(pk__in=waiting.values("file")))
    waiting.exclude(height=0).update(state=PageState.READ, reason="")
    for file in files:
        file_place(file)
    return before - waiting.count()


def pages_placed(contest: Contest) -> Sequence[ScannedPage]:
    """Placed pages without their pictures, in the order of their sheets, then of their files."""
    rows = ScannedPage.objects.filter(file__contest=contest, state=PageState.PLACED).exclude(paper=None).exclude(problem=None)
    return list(rows.defer("jpeg").order_by("paper", "problem", "sheet", "file__path", "file", "number"))
