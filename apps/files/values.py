"""Text values of cells, checked for what spreadsheets and programs lose."""

import math
import re
from collections.abc import Mapping
from typing import Any

_NOTHING = re.compile(r"null|none|nan|undefined", re.IGNORECASE)
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
