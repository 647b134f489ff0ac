"""The place of a grader's quote in the script: an exact and unique match, up to white space and TeX spacing, or none.

Never by likeness: the next sentence of a proof may differ by one sign and be right.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from apps.reasoning.domain.values import Value
from apps.reasoning.graders.grading import Located
from apps.reasoning.graders.judging.said import FindingSaid
from apps.reasoning.graders.material import Span
from apps.reasoning.texts.anchors import Anchor, anchor_make

SHORTEST = 4
_SAME = (
    (r"\\(?:,|;|:|!|>|\s|quad|qquad|left|right|displaystyle|textstyle|bigl?|bigr|Bigl?|Bigr)(?![A-Za-z])", ""),
    (r"\\[dt]frac(?![A-Za-z])", r"\frac"),
    (r"\\leq(?:slant)?(?![A-Za-z])", r"\le"),
    (r"\\geq(?:slant)?(?![A-Za-z])", r"\ge"),
    (r"\\neq(?![A-Za-z])", r"\ne"),
    (r"\\to(?![A-Za-z])", r"\rightarrow"),
    (r"\\[()\[\]]|\$\$?", "$"),
    (r"[‘’]", "'"),
    (r"[“”]", '"'),
    (r"[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff~]+", ""),
)
_TOKEN = re.compile("|".join(f"({pattern})" for pattern, _ in _SAME) + r"|(.)", re.DOTALL)


class _Plain(Value):
    """A text made plain, with the place in the source of each of its characters."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


@lru_cache(maxsize=64)
def _plain(source: str) -> _Plain:
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _TOKEN.finditer(source):
        index = match.lastindex or 0
        said = _SAME[index - 1][1] if index <= len(_SAME) else match.group()
        pieces.append(said)
        starts += [match.start()] * len(said)
        ends += [match.end()] * len(said)
    return _Plain(text="".join(pieces), starts=tuple(starts), ends=tuple(ends))


def places_of(source: str, quote: str) -> list[tuple[int, int]]:
    """The places of the quote in the source, as spans. A quote of a few characters is not searched for."""
    wanted, inside = _plain(quote.strip().strip('“”"…').removesuffix("...")).text, _plain(source)
    found: list[tuple[int, int]] = []
    place = inside.text.find(wanted) if len(wanted) >= SHORTEST else -1
    while place >= 0:
        found.append((inside.starts[place], inside.ends[place + len(wanted) - 1]))
        place = inside.text.find(wanted, place + 1)
    return found


def located(source: str, steps: Sequence[Span], said: FindingSaid) -> Located:
    """The finding at its step, with an anchor if its quote is unique in that step or in the whole script."""
    step, anchor, lost = _place(source, steps, said)
    return Located(
        id=said.id,
        step=step,
        anchor=anchor,
        lost=lost,
        fallacy=said.type,
        severity=said.severity,
        quote=said.quote,
        words=said.comment,
        contradicts=said.contradicts,
    )


def _place(source: str, steps: Sequence[Span], said: FindingSaid) -> tuple[int, Anchor | None, str]:
    if not said.quote.strip():
        return said.step, None, "nothing is quoted"
    everywhere = places_of(source, said.quote)
    named = steps[said.step - 1] if said.step else None
    inside = [place for place in everywhere if named and named.start <= place[0] < named.end]
    found = inside or everywhere
    if len(found) != 1:
        words = "the quote appears more than once in the script" if found else "the quote does not appear in the script"
        return said.step, None, words
    start, end = found[0]
    number = next((index for index, step in enumerate(steps, 1) if step.start <= start < step.end), said.step)
    return number, anchor_make(source, start, end), ""
