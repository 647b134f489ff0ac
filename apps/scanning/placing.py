"""Decide where the pages of a file belong: by their codes, by cover sheets, else by the file's name.

No page is placed by likeness. A page with two codes, with a code of another contest or with a code that another page has waits
in the tray, like all unsure ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Case, Q, QuerySet, When

from apps.contests.models import Contest
from apps.scanning.codes import PageCode, code_of
from apps.scanning.likeness import is_same_page
from apps.scanning.models import PageState, PlacedBy, ScanFile, ScannedPage, SheetCode
from apps.scanning.naming import Guess, Names

NO_CODE = "No page code was read."
TWO_CODES = "Two sheets are on this page."
FOREIGN = "This sheet belongs to another contest."
UNKNOWN = "This code is not known. Was the student or the problem removed?"
SAME_SHEET = "Another page has the same code."
NO_PROBLEM = "The problem is not known."
LATER = "This page follows a sheet with a code."
PUT_BACK = "Put back by hand."


@dataclass
class _Place:
    """Where pages without a code belong, after a cover sheet or a coded page. `is_lost`: after a sheet that cannot be used."""

    paper: int | None = None
    problem: int | None = None
    is_cover: bool = False
    is_lost: bool = False

    def lose(self) -> None:
        """Know nothing about the next pages: this sheet could not be used, and may have been a cover."""
        self.paper = self.problem = None
        self.is_cover, self.is_lost = False, True


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
    """Place the new pages of a file that was read, in the order of all its pages."""
    Contest.objects.select_for_update().get(pk=file.contest_id)  # Two files placed at once could both keep one sheet.
    codes, guess = _Codes(file.contest), Names(file.contest).guess(file.path)
    place = _Place()
    for page in file.scanned.defer("jpeg").order_by("number"):
        if page.state == PageState.READ:
            _page_place(page, codes, guess, place)
            page.reason = page.reason[:300]
            page.save(update_fields=["state", "placed_by", "paper", "problem", "sheet", "reason"])
        else:
            _follow(page, codes, place)


def _found(page: ScannedPage) -> list[PageCode]:
    return [code for text in page.code.split() if (code := code_of(text)) is not None]


def _follow(page: ScannedPage, codes: _Codes, place: _Place) -> None:
    """Know from a page that was placed before where the next ones belong."""
    found = _found(page)
    if len(found) == 1 and not codes.trouble(found[0]):
        _remember(found[0], codes, place)
    elif found or not page.height:
        place.lose()


def _remember(code: PageCode, codes: _Codes, place: _Place) -> None:
    place.paper, place.problem = codes.papers[code.token], code.problem or None
    place.is_cover, place.is_lost = code.is_cover, False


def _page_place(page: ScannedPage, codes: _Codes, guess: Guess, place: _Place) -> None:
    found = _found(page)
    page.state = PageState.TRAY
    if len(found) > 1:
        page.reason = TWO_CODES
        place.lose()
    elif found and (trouble := codes.trouble(found[0])):
        page.reason = trouble
        place.lose()
    elif found:
        _by_code(page, found[0], codes, place)
    elif page.reason:
        place.lose()
    elif not page.ink:
        page.state = PageState.BLANK
    elif place.is_lost:
        page.reason = NO_CODE
    elif place.paper:
        _by_neighbour(page, place)
    else:
        _by_name(page, guess)


def _by_code(page: ScannedPage, code: PageCode, codes: _Codes, place: _Place) -> None:
    page.paper_id, page.problem_id, page.sheet = codes.papers[code.token], code.problem or None, code.page
    _remember(code, codes, place)
    if code.is_cover:
        page.state = PageState.COVER
        return
    same = ScannedPage.objects.filter(paper=page.paper_id, problem=page.problem_id, sheet=code.page).exclude(pk=page.pk)
    first = same.filter(state__in=(PageState.PLACED, PageState.BLANK)).first()
    if first is not None:
        is_copy = is_same_page(first.likeness, page.likeness) or not (first.ink or page.ink)
        page.state, page.reason = (
            (PageState.DUPLICATE, f"The same page as in {first.file.name}.") if is_copy else (PageState.TRAY, SAME_SHEET)
        )
        return
    page.state, page.placed_by = (PageState.PLACED if page.ink else PageState.BLANK), PlacedBy.CODE


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


def pages_to_assign(contest: Contest) -> QuerySet[ScannedPage]:
    """Pages of the tray, and placed ones whose student or problem was removed from the contest."""
    is_orphan = Q(state=PageState.PLACED) & (Q(paper=None) | Q(problem=None))
    return ScannedPage.objects.filter(Q(state=PageState.TRAY) | is_orphan, file__contest=contest)


@transaction.atomic
def files_place_again(contest: Contest) -> int:
    """Place pages of the tray again, as after students were added; returns how many left the tray.

    What a person put back and what has no picture stays.
    """
    waiting = pages_to_assign(contest)
    before = waiting.count()
    again = waiting.exclude(height=0).exclude(placed_by=PlacedBy.HAND)
    files = list(ScanFile.objects.filter(pk__in=again.values("file")))
    again.update(state=PageState.READ, reason="")
    for file in files:
        file_place(file)
    return before - waiting.count()


def pages_placed(contest: Contest) -> Sequence[ScannedPage]:
    """Placed pages without their pictures, in the order of their sheets, then of their files. Plain pages follow sheets."""
    rows = ScannedPage.objects.filter(file__contest=contest, state=PageState.PLACED).exclude(paper=None).exclude(problem=None)
    is_plain = Case(When(sheet=0, then=1), default=0)
    return list(rows.defer("jpeg").order_by("paper", "problem", is_plain, "sheet", "file__path", "file", "number"))
