"""Scanned pages with the remarks on them: each remark with a region has a number, which is drawn on the page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from apps.reasoning.marking.sheets.pages import Region, page_of, page_step
from apps.reasoning.marking.sheets.sheet import Comment, StepVerdict
from apps.submissions.models import SubmissionVersion, VersionScan
from apps.ui.typeset.document import Document, Part, Pin

Shown = TypeVar("Shown")
Note = TypeVar("Note", bound=StepVerdict | Comment)
#: Size of a pin in parts of the page's width.
PIN = 0.022


@dataclass(frozen=True)
class PinDrawn(Pin):
    """A region on its page, also for the screen. `size`: radius of the number in pixels."""

    size: int

    @property
    def is_pin(self) -> bool:
        return not self.w or not self.h


@dataclass(frozen=True)
class RemarkOnPage(Generic[Shown]):
    """A remark with the number of its region, 0 without one. It is either a verdict, as its page shows it, or a comment."""

    number: int
    verdict: Shown | None
    comment: Comment | None


@dataclass(frozen=True)
class PageMarked(Generic[Shown]):
    """A page with its remarks, in the order of their numbers."""

    page: VersionScan
    rows: list[RemarkOnPage[Shown]]
    pins: list[PinDrawn]

    def print(self, document: Document, part: Part, most: int) -> None:
        """Add the page with its pins to a document; beyond `most` pictures, a line about the page if it has remarks."""
        scan = self.page.scan
        if len(document.pictures) < most:
            document.picture(part, bytes(scan.jpeg), size=(scan.width, scan.height), pins=self.pins)
        elif self.rows:
            part.prose(f"Page {self.page.number} is not printed: a document has at most {most} pictures.")


def pages_marked(
    version: SubmissionVersion,
    verdicts: Sequence[Shown],
    comments: Sequence[Comment],
    value_of: Callable[[Shown], StepVerdict | Comment],
) -> list[PageMarked[Shown]]:
    """The pages of a text with their remarks; the pages have no image data. `value_of`: the verdict behind a shown one."""
    pages = version.pages.select_related("scan").defer("scan__jpeg")
    return [_marked(page, verdicts, comments, value_of) for page in pages]


def page_at(version: SubmissionVersion, step: int, notes: Sequence[Note]) -> PageMarked[Note] | None:
    """One page with the places of these remarks, which may be of several markers; None for a step of the text."""
    page = version.pages.select_related("scan").defer("scan__jpeg").filter(number=page_of(step) or 0).first()
    return _marked(page, notes, (), lambda one: one) if page is not None else None


def pin_drawn(number: int, region: Region, width: int, height: int, *, is_error: bool) -> PinDrawn:
    """A region in pixels of a page of this size."""
    x, y, w, h = (
        round(part * side) for part, side in zip((region.x, region.y, region.w, region.h), (width, height) * 2, strict=True)
    )
    return PinDrawn(number, x, y, w, h, is_error, round(PIN * width))


def remark_title(number: int, title: str = "") -> str:
    """The title of a remark on a page, with the number of its place if it has one."""
    place = f"Place {number}" if number else ""
    return ": ".join(part for part in (place, title) if part)


def _marked(
    page: VersionScan,
    verdicts: Sequence[Shown],
    comments: Sequence[Comment],
    value_of: Callable[[Shown], StepVerdict | Comment],
) -> PageMarked[Shown]:
    step = page_step(page.number)
    rows: list[RemarkOnPage[Shown]] = []
    pins: list[PinDrawn] = []
    notes: list[tuple[Shown | None, Comment | None, StepVerdict | Comment]] = [
        *((shown, None, value_of(shown)) for shown in verdicts),
        *((None, comment, comment) for comment in comments),
    ]
    for shown, comment, note in notes:
        if note.step != step:
            continue
        number = 0
        if note.region is not None:
            number = len(pins) + 1
            size = (page.scan.width, page.scan.height)
            pins.append(pin_drawn(number, note.region, *size, is_error=isinstance(note, StepVerdict)))
        rows.append(RemarkOnPage(number, shown, comment))
    return PageMarked(page, rows, pins)
