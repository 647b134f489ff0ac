"""Text values of cells, checked for what spreadsheets and programs lose."""

import math
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

_NOTHING = re.compile(r"null|none|nan|undefined", re.IGNORECASE)
_POINTS_AT_MOST = Decimal(1_000)
LINE_END = re.compile(r"\s*\n\s*")
#: Columns whose line ends become spaces.
_ONE_LINE = {
    "title",
    "source",
    "level",
    "slug",
    "origin",
    "external_id",
    "subtopic",
    "Problem ID",
    "Source",
    "Level",
    "Subcategory",
}


class RowWrong(Exception):
    """The row is invalid; the message gives the reason."""


def text_of(values: Mapping[str, Any], name: str) -> str:
    """The text of `name`, with LF line ends and without surrounding white space; empty if missing.

    Raises `RowWrong` for other types and for the words "null", "None" and "nan", which indicate lost values.
    """
    value = values.get(name)
    if value is None:
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        raise RowWrong(f"The value of {name} is “{value}”; the original value was probably lost when the file was created.")
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise RowWrong(f"The value of {name} is not text.")
    text = str(value).replace("\r\n", "\n").replace("\r", "\n").strip()
    if _NOTHING.fullmatch(text):
        raise RowWrong(f"The value of {name} is “{text}”; the original value was probably lost when the file was created.")
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise RowWrong(f"The value of {name} has an invalid character (NUL or half a surrogate pair).")
    return LINE_END.sub(" ", text) if name in _ONE_LINE else text


def word_of(values: Mapping[str, Any], name: str) -> str:
    """A short text value, which may be a number in JSON. Raises `RowWrong`."""
    value = values.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return text_of(values, name)


def points_of(points: str, out_of: str) -> tuple[Decimal, Decimal]:
    """Points and their maximum, from two words. Raises `RowWrong` unless 0 ≤ points ≤ maximum ≤ 1,000."""
    try:
        given, scale = Decimal(points), Decimal(out_of)
    except InvalidOperation as error:
        raise RowWrong(f"Points {points[:20]!r} out of {out_of[:20]!r} are not numbers.") from error
    if given.is_finite() and scale.is_finite() and given > scale > 0:
        raise RowWrong(f"Invalid points: {points[:20]} exceeds the maximum {out_of[:20]}.")
    if not (given.is_finite() and scale.is_finite() and 0 <= given <= scale <= _POINTS_AT_MOST and scale > 0):
        raise RowWrong(f"Invalid points: {points[:20]} out of {out_of[:20]}.")
    return given, scale
