"""A place in a source that can be found again, or is honestly lost.

An anchor belongs to one immutable text. `anchor_span` checks it against that text and never looks for something similar: in a
proof the next sentence may differ by one letter and be right.
"""

import unicodedata
from typing import Annotated

from pydantic import Field

from apps.reasoning.domain.values import Value
from apps.reasoning.texts.formulas import formulas
from apps.reasoning.texts.source import PlaceWrong

CONTEXT = 32


class Anchor(Value):
    """`source[start:end] == quote`, in code points, with up to 32 characters before and after it."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    quote: str
    prefix: str = ""
    suffix: str = ""


class AnchorLost(ValueError):
    """The text does not have the anchor's quote at its place."""


def anchor_make(source: str, start: int, end: int) -> Anchor:
    """The anchor of a selection, widened to whole formulas and letters. Raises `PlaceWrong` for an empty or outside one."""
    if not 0 <= start < end <= len(source):
        raise PlaceWrong(f"{start}–{end} is no selection in a text of {len(source)} characters")
    start, end = whole(source, start, end)
    return anchor_at(source, start, end)


def anchor_at(source: str, start: int, end: int) -> Anchor:
    """The anchor of exactly this span."""
    before, after = source[max(0, start - CONTEXT) : start], source[end : end + CONTEXT]
    return Anchor(start=start, end=end, quote=source[start:end], prefix=before, suffix=after)


def anchor_span(source: str, anchor: Anchor) -> tuple[int, int]:
    """The place of the anchor in its text. Raises `AnchorLost` for another text."""
    if not anchor.quote or source[anchor.start : anchor.end] != anchor.quote:
        raise AnchorLost("the text does not say this at that place")
    return anchor.start, anchor.end


def whole(source: str, start: int, end: int) -> tuple[int, int]:
    """The selection widened so that it cuts no formula and no letter from its accents."""
    while start > 0 and _belongs_to_letter(source, start):
        start -= 1
    while end < len(source) and _belongs_to_letter(source, end):
        end += 1
    for formula in formulas(source):
        if formula.start >= end:
            break
        if formula.start < start < formula.end:
            start = formula.start
        if formula.start < end < formula.end:
            end = formula.end
    return start, end


def _belongs_to_letter(source: str, place: int) -> bool:
    """Whether the character at `place` is drawn with the one before it: marks, variation selectors, joiners."""
    here, before = source[place], source[place - 1]
    return unicodedata.category(here) in {"Mn", "Me", "Mc"} or here == "\u200d" or before == "\u200d"
