"""JSON that others wrote, decoded: only with characters that a database keeps, and never deeper than our own code can go."""

import re
from typing import Any

#: What is nested more deeply is no answer to anything that is asked here.
DEEPEST = 100
# JSON can name the zero character and halves of surrogate pairs; neither is a text that can be stored.
_NO_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def characters(text: str) -> str:
    """The text with the replacement character where it has what no database keeps."""
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
    """What is wrong with JSON that could not be decoded, in words."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(getattr(error, "msg", "") or error)
