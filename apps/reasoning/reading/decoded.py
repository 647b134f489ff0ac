"""Decode foreign JSON: only with characters that a database stores, and never nested deeper than our code can follow."""

import re
from typing import Any

#: No expected answer is nested more deeply.
DEEPEST = 100
# JSON can escape the zero character and halves of surrogate pairs; neither can be stored.
_NO_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def characters(text: str) -> str:
    """The text with the replacement character in place of characters that a database cannot store."""
    return _NO_CHARACTER.sub("\ufffd", text)


def keepable(value: Any, deepest: int = DEEPEST) -> Any:
    """The decoded value with every text of it, keys too, as it can be kept. Raises `RecursionError` below `deepest` levels."""
    if isinstance(value, str):
        return characters(value)
    if not isinstance(value, dict | list):
        return value
    if deepest <= 0:
        raise RecursionError("nested too deeply")
    if isinstance(value, list):
        return [keepable(one, deepest - 1) for one in value]
    return {characters(name): keepable(one, deepest - 1) for name, one in value.items()}


def why_unread(error: Exception) -> str:
    """Why JSON could not be decoded, in words."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(getattr(error, "msg", "") or error)
