"""Issues that came with a script: places by number, checked against the text. Those that lead nowhere are listed, not shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.problems.importing.values import RowWrong, text_of


@dataclass(frozen=True)
class Issue:
    """`start` and `end` count code points of the script; None where the place makes no sense, and then `lost` says why."""

    words: str
    category: str = ""
    quote: str = ""
    start: int | None = None
    end: int | None = None
    lost: str = ""


def issues_read(attempt: Mapping[str, Any], text: str) -> tuple[Issue, ...]:
    """The issues under `llm_judgment`. The places count in the text as it was published, which is `text` but for line ends.

    Raises `RowWrong` where they are no list of objects.
    """
    judged = attempt.get("llm_judgment")
    result = judged.get("result") if isinstance(judged, dict) else None
    given = result.get("issues") if isinstance(result, dict) else None
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise RowWrong("Its issues are no list of objects.")
    published = attempt.get("solution")
    return tuple(_issue(one, text, is_same=published == text) for one in given)


def _issue(given: Mapping[str, Any], text: str, *, is_same: bool) -> Issue:
    words, category = text_of(given, "description"), text_of(given, "category")
    quote = given["text"] if isinstance(given.get("text"), str) else ""
    start, end = given.get("start_index"), given.get("end_index")
    if not isinstance(start, int) or not isinstance(end, int) or isinstance(start, bool) or isinstance(end, bool):
        lost = "it has no place"
    elif not 0 <= start < end:
        lost = f"its place, {start} to {end}, is none"
    elif end > len(text):
        lost = f"its place, {start} to {end}, lies outside the script of {len(text)} characters"
    elif not is_same and text[start:end] != quote:
        lost = "places cannot be trusted: the text was changed by cleaning"
    else:
        return Issue(words, category, text[start:end], start, end)
    return Issue(words, category, quote, lost=lost)
