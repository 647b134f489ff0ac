"""Errors marked inside a text as `<span class="proof-by-example"> … </span>`, and the scale of 1 to 4: read and written.

Source: RefGrader §3 (data collection): the markup of its annotators, one or several fallacies a span; points are 2x − 1.
"""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Annotated, Protocol

from pydantic import Field

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.reasoning.marking.suggestion import Finding
from apps.reasoning.texts.anchors import Anchor, anchor_make
from apps.reasoning.texts.source import source_of

_TAG = re.compile(r"<span\b([^<>]*)>|</span\s*>", re.IGNORECASE)
_CLASS = re.compile(r"\bclass\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_ESCAPED = re.compile(r"&(?=(?:amp;)*lt;/?span\b)", re.IGNORECASE)
_LITERAL = re.compile(r"<(?=/?span\b)", re.IGNORECASE)


class Anchored(Protocol):
    """A finding that may have a place."""

    @property
    def anchor(self) -> Anchor | None: ...

    @property
    def fallacy(self) -> Fallacy: ...


class Marked(Value):
    """A place with its fallacies: `source[start:end]`."""

    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    fallacies: tuple[Fallacy, ...]


class MarkedText(Value):
    """A text without its markup, the marked places, and the unreadable markup in words."""

    source: str
    places: tuple[Marked, ...] = ()
    faults: tuple[str, ...] = ()


def markup_read(text: str) -> MarkedText:
    """Remove the markup from a text. Spans may be nested; white space at the ends of a span is not marked."""
    text = source_of(text)
    pieces: list[str] = []
    open_spans: list[tuple[int, str]] = []
    places: list[tuple[int, int, str]] = []
    faults: list[str] = []
    last = length = 0
    for tag in _TAG.finditer(text):
        piece = _unescaped(text[last : tag.start()])
        pieces.append(piece)
        length, last = length + len(piece), tag.end()
        if tag.group(1) is not None:
            named = _CLASS.search(tag.group(1))
            open_spans.append((length, next((one for one in named.groups() if one is not None), "") if named else ""))
        elif open_spans:
            start, names = open_spans.pop()
            places.append((start, length, names))
        else:
            faults.append("a span is closed that was never opened")
    pieces.append(_unescaped(text[last:]))
    faults += ["a span is never closed" for _ in open_spans]
    source = "".join(pieces)
    found = [_marked(source, *place, faults) for place in sorted(places)]
    return MarkedText(source=source, places=tuple(one for one in found if one), faults=tuple(faults))


def _marked(source: str, start: int, end: int, names: str, faults: list[str]) -> Marked | None:
    inside = source[start:end]
    start, end = start + len(inside) - len(inside.lstrip()), end - (len(inside) - len(inside.rstrip()))
    slugs = [one.strip().lower().replace("_", "-") for one in re.split(r"[\s,;+|]+", names) if one.strip()]
    known = tuple(dict.fromkeys(Fallacy(one) for one in slugs if one in set(Fallacy)))
    faults += [f"there is no fallacy “{one[:60]}”" for one in slugs if one not in set(Fallacy)]
    if not slugs:
        faults.append("a span names no fallacy")
    if start >= end:
        faults.append("a span marks nothing")
    return Marked(start=start, end=end, fallacies=known) if known and start < end else None


def markup_write(source: str, places: Iterable[Marked]) -> str:
    """The text with its markup. Of two spans that cross, the one that begins later is written in two pieces."""
    nested = _nested(sorted(places, key=lambda one: (one.start, -one.end)))
    tags: list[tuple[int, int, int, str]] = []
    for order, one in enumerate(nested):
        tags.append((one.start, 1, order, f'<span class="{" ".join(one.fallacies)}">'))
        tags.append((one.end, 0, -order, "</span>"))
    written, last = [], 0
    for place, _, _, tag in sorted(tags):
        written += [_escaped(source[last:place]), tag]
        last = place
    return "".join([*written, _escaped(source[last:])])


def _nested(places: Sequence[Marked]) -> list[Marked]:
    """The places, each inside or outside each other."""
    found: list[Marked] = []
    waiting = list(places)
    while waiting:
        one = waiting.pop(0)
        cut = next((other.end for other in found if other.start < one.start < other.end < one.end), None)
        if cut is None:
            found.append(one)
        else:
            waiting[:0] = [one.model_copy(update={"end": cut}), one.model_copy(update={"start": cut})]
    return sorted(found, key=lambda one: (one.start, -one.end))


def findings_of(marked: MarkedText, steps: Sequence[tuple[int, int]]) -> tuple[Finding, ...]:
    """Each fallacy of each place as a finding at the step where it begins; places outside all steps are left out.

    `steps` are spans of the source, numbered from 1.
    """
    found: list[Finding] = []
    for place in marked.places:
        number = next((number for number, (start, end) in enumerate(steps, 1) if start <= place.start < end), 0)
        anchor = anchor_make(marked.source, place.start, place.end)
        for fallacy in place.fallacies if number else ():
            words = f"Marked as {fallacy.value.replace('-', ' ')}."
            found.append(Finding(id=f"E{len(found) + 1}", step=number, anchor=anchor, fallacy=fallacy, words=words))
    return tuple(found)


def places_of(findings: Iterable[Anchored]) -> tuple[Marked, ...]:
    """The places of findings that have an anchor; several fallacies at one place become one span."""
    placed = sorted(
        ((one.anchor.start, one.anchor.end, one.fallacy) for one in findings if one.anchor is not None),
        key=lambda one: one[:2],
    )
    return tuple(
        Marked(start=start, end=end, fallacies=tuple(dict.fromkeys(fallacy for _, _, fallacy in group)))
        for (start, end), group in groupby(placed, key=lambda one: one[:2])
    )


def points_of_four(grade: int) -> Decimal:
    """A grade from 1 (incorrect) to 4 (correct) as points of 7. Raises `ValueError`."""
    if not 1 <= grade <= 4:
        raise ValueError(f"{grade} is no grade from 1 to 4")
    return Decimal(2 * grade - 1)


def _escaped(text: str) -> str:
    return _LITERAL.sub("&lt;", _ESCAPED.sub("&amp;", text))


def _unescaped(text: str) -> str:
    """Escape `&lt;span`, which represents a span of the text itself."""
    return re.sub(r"&amp;(?=(?:amp;)*lt;/?span\b)|&lt;(?=/?span\b)", _plain, text, flags=re.IGNORECASE)


def _plain(found: re.Match[str]) -> str:
    return "&" if found.group().lower() == "&amp;" else "<"
