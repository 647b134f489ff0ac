"""Read a function call: a `<tool_call>` block with a name and arguments, whatever wrote it.

`inference/tool_text.py` rewrites the calls of an engine's own protocol in this form; some models write it themselves.
Nothing is guessed: a block that is no JSON, or lacks a name, is `Unscored` with the reason.
"""

import json
import re
from typing import Any, NamedTuple

from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.decoded import keepable, why_unread

OPENING = "tool_call"
_CLOSE = re.compile(r"\s*</tool_call>", re.IGNORECASE)
_ANY_CLOSE = re.compile(r"</tool_call>", re.IGNORECASE)
_NAME = re.compile(r'\{\s*"name"\s*:\s*"([\w.-]{1,80})"')
_BARE = re.compile(r"^[ \t]*(\{)\s*\"", re.MULTILINE)
# Models write line ends inside strings of code; their meaning is clear.
_DECODER = json.JSONDecoder(strict=False)


class Called(Value):
    """A function by its name, with the arguments it was given."""

    name: str
    arguments: dict[str, Any]


class ReadCall(NamedTuple):
    """The content of a block, and where in the text the block ends."""

    called: Called | Unscored
    end: int


def read_call(text: str, at: int) -> ReadCall:
    """The call whose block was opened right before `at`. The block ends where its JSON does, whatever its strings contain.

    An engine that stops at the closing tag leaves it out."""
    start = len(text) - len(text[at:].lstrip())
    try:
        found, end = _DECODER.raw_decode(text, start)
        found = keepable(found)
    except (ValueError, RecursionError) as error:
        return _broken(text, at, error)
    closed = _CLOSE.match(text, end)
    if closed is None and text[end:].strip():
        return _broken(text, at, ValueError("something follows its JSON object"))
    return ReadCall(_called(found), closed.end() if closed else len(text))


def bare_calls(text: str) -> list[tuple[Called | Unscored, int]]:
    """Calls in a text, or in its fences of code, without their block: JSON objects on lines of their own with a name
    and arguments; each with its place."""
    found: list[tuple[Called | Unscored, int]] = []
    at = 0
    while (opened := _BARE.search(text, at)) is not None:
        at = opened.end()
        try:
            value, end = _DECODER.raw_decode(text, opened.start(1))
            value = keepable(value)
        except (ValueError, RecursionError) as error:
            if named := _NAME.match(text, opened.start(1)):
                why = f"the arguments of {named.group(1)} are not valid JSON: {why_unread(error)}"
                found.append((Unscored(reason=why), opened.start()))
            continue
        if isinstance(value, dict) and "name" in value and not value.keys().isdisjoint(("arguments", "parameters")):
            found.append((_called(value), opened.start()))
            at = end
    return found


def _called(found: Any) -> Called | Unscored:
    if not isinstance(found, dict) or not isinstance(found.get("name"), str) or not found["name"]:
        return Unscored(reason="a function was called without a name")
    name = found["name"]
    arguments = found.get("arguments", found.get("parameters", {}))
    if isinstance(arguments, str):
        try:
            arguments = keepable(_DECODER.decode(arguments or "{}"))
        except (ValueError, RecursionError) as error:
            return Unscored(reason=f"the arguments of {name} are not valid JSON: {why_unread(error)}")
    if not isinstance(arguments, dict):
        return Unscored(reason=f"the arguments of {name} are no JSON object")
    return Called(name=name, arguments=arguments)


def _broken(text: str, at: int, error: Exception) -> ReadCall:
    closed = _ANY_CLOSE.search(text, at)
    end = closed.end() if closed else len(text)
    named = _NAME.search(text[at:end])
    whose = f"the arguments of {named.group(1)}" if named else "a call of a function"
    verb = "are" if named else "is"
    return ReadCall(Unscored(reason=f"{whose} {verb} not valid JSON: {why_unread(error)}"), end)
