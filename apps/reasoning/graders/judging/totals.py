"""The total of a script outside any structure of an answer: a tag, a labelled line, a last line.

Text shown to the grader is no judgement: points in words that appear in the script are not read.
"""

import re
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.choices import SCORE_LABELS
from apps.reasoning.reading.closings import Closing, Said, json_within
from apps.reasoning.reading.said_values import number, share_alone

#: What an object of JSON may call the total.
TOTALS = ("points", "total", "total_points", "score", "total_score", "grade")
_WHAT = "total"
DECLINES = "it says itself that it cannot judge the script"
_MARKUP = re.compile(r"[#*_`~>“”\"']+")
LABELS = (
    *SCORE_LABELS,
    "proposed points",
    "points awarded",
    "awarded points",
    "score awarded",
    "awarded",
    "final points",
    "final total",
)


def points_said(value: Any, of: Decimal) -> Decimal | None:
    """A number of points as a field or tag has it: `5`, `5/7`, `5 points`. None where it is none, negative, or beyond `of`."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    said = number(value, float(of)) if isinstance(value, str) else float(value)
    return None if said is None or not 0 <= said <= of else _exact(said)


def _exact(said: float) -> Decimal:
    return Decimal(int(said)) if said == int(said) else Decimal(str(said))


@cache
def total_closing(scale: Decimal, tag: str = "points") -> Closing[Decimal]:
    """Where the points of a script are looked for."""

    def parse(written: str) -> Decimal | None:
        return points_said(written, scale)

    def alone(written: str) -> Decimal | None:
        return None if share_alone(written, float(scale)) is None else parse(written)

    return Closing(tag, _WHAT, parse, LABELS, bare=alone)


def total_in_words(answer: str, scale: Decimal, shown: str) -> Said[Decimal] | Unscored | None:
    """The total of an answer without structure; None where it has none."""
    found = total_closing(scale).read(answer)
    if isinstance(found, Unscored):
        return None if found.reason == f"there is no {_WHAT}" else found
    return (
        Unscored(reason="its points are words of the script") if is_shown(found.before, answer, found.written, shown) else found
    )


def total_again(answer: str, scale: Decimal, shown: str) -> Decimal | Unscored:
    """The total of an answer to the question for it alone."""
    value = json_within(answer, *TOTALS) or {}
    named = {str(value[name]) for name in TOTALS if name in value}
    if named == {"None"}:
        return Unscored(reason=DECLINES)
    if len(named) > 1:
        return Unscored(reason=f"it gives different points: {' and '.join(sorted(named))}")
    found = total_closing(scale, "score").again(answer)
    if isinstance(found, Unscored):
        return found
    words = total_in_words(answer, scale, shown)
    return words if isinstance(words, Unscored) else found


def is_shown(before: str, answer: str, written: str, shown: str) -> bool:
    """Whether the text after `before`, up to the value `written` or to the end, appears in what the grader was shown.

    A tag never does: there it is made inert.
    """
    rest = answer[answer.index(before) + len(before) :]
    words = _plain(rest[: rest.index(written) + len(written)] if written else rest)
    return bool(words) and words in _plain(shown) and not words.startswith("<")


@lru_cache(maxsize=32)
def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).lower().split())
