"""Places on the pages of a script: a page is a step with a high number, and a remark on it may have a region.

A region is in fractions of the page's width and height, from its top left corner and before any turn. So it stays where it is
in every size, and in another scan of the same sheet. Without width and height it is a pin.
"""

import re
from typing import Annotated, Self

from pydantic import Field, model_validator

from apps.reasoning.domain.values import Value

#: Above the numbers of steps: page 3 is step 10,003.
FIRST = 10_000
_PLACE = re.compile(r"(?:(?P<kind>step|page|s\.?|p\.?)\s*)?(?P<number>[0-9]{1,4})", re.IGNORECASE)
Part = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
#: Regions reach this far over the edge by rounding.
_EDGE = 1e-6
#: Places this close on a page are one place, in parts of its sides.
_NEAR = 0.02


class Region(Value):
    """A rectangle or a pin on a page, in parts of its width (`x`, `w`) and height (`y`, `h`)."""

    x: Part
    y: Part
    w: Part = 0.0
    h: Part = 0.0

    @model_validator(mode="after")
    def _is_on_the_page(self) -> Self:
        if self.x + self.w > 1 + _EDGE or self.y + self.h > 1 + _EDGE:
            raise ValueError("the region reaches over the edge of the page")
        return self

    @property
    def is_pin(self) -> bool:
        return not self.w or not self.h

    def meets(self, other: "Region") -> bool:
        """Whether two regions of one page overlap, each a little larger than drawn."""
        return (
            self.x - _NEAR <= other.x + other.w
            and other.x - _NEAR <= self.x + self.w
            and self.y - _NEAR <= other.y + other.h
            and other.y - _NEAR <= self.y + self.h
        )


def page_step(page: int) -> int:
    """The number of a page as a step; `page` from 1."""
    return FIRST + page


def page_of(step: int) -> int | None:
    """The page behind a step's number; None for a step of the text and for the whole script."""
    return step - FIRST if step > FIRST else None


def place_read(text: str, *, has_steps: bool = True) -> int | None:
    """The step behind “3”, “step 3” or “page 2”; in a script of pages alone a bare number is a page. None if it is no place."""
    found = _PLACE.fullmatch(text.strip())
    if found is None:
        return None
    number = int(found["number"])
    is_page = found["kind"] is not None and found["kind"].casefold().startswith("p")
    return page_step(number) if is_page or (not found["kind"] and not has_steps) else number


def place_words(step: int) -> str:
    """A place in words: “step 3”, “page 2”, “the whole text”."""
    page = page_of(step)
    if page is not None:
        return f"page {page}"
    return f"step {step}" if step else "the whole text"


def place_title(step: int) -> str:
    """The same at the beginning of a sentence."""
    words = place_words(step)
    return words[0].upper() + words[1:]
