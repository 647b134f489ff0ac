"""Imported issues of a script, with positions validated against the text. Issues without a valid position are only listed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apps.files.values import RowWrong, text_of


@dataclass(frozen=True)
class Issue:
    """One issue. `start`, `end`: code points in the script, None for an invalid position, with the reason in `lost`."""

    words: str
    category: str = ""
    quote: str = ""
    start: int | None = None
    end: int | None = None
    lost: str = ""


def issues_read(attempt: Mapping[str, Any], text: str) -> tuple[Issue, ...]:
    """The issues under `llm_judgment`. Positions refer to the published text, which may differ from `text` in line ends.

    Raises `RowWrong` unless they are a list of objects.
    """
    judged = attempt.get("llm_judgment")
    result = judged.get("result") if isinstance(judged, dict) else None
    given = result.get("issues") if isinstance(result, dict) else None
    if given is None:
        return ()
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise RowWrong("Its issues are not a list of objects.")
    published = attempt.get("solution")
    return tuple(_issue(one, text, is_same=published == text) for one in given)


def _issue(given: Mapping[str, Any], text: str, *, is_same: bool) -> Issue:
    words, category = text_of(given, "description"), text_of(given, "category")
    quote = given["text"] if isinstance(given.get("text"), str) else ""
    start, end = given.get("start_index"), given.get("end_index")
    if not isinstance(start, int) or not isinstance(end, int) or isinstance(start, bool) or isinstance(end, bool):
        lost = "no position given"
    elif not 0 <= start < end:
        lost = f"invalid position {start} to {end}"
    elif end > len(text):
        lost = f"position {start} to {end} is outside the script of {len(text)} characters"
    elif not is_same and text[start:end] != quote:
        lost = "positions are unreliable, as the text was changed during import"
    else:
        return Issue(words, category, text[start:end], start, end)
    return Issue(words, category, quote, lost=lost)
