"""Finding the structure of an answer: one JSON object, a block of tags, or one of them in prose or in a code fence.

From strict to tolerant, as `reading/closings.py` reads short closings: the whole answer as JSON; the closing `<wrapper>`; one
that has lines of its own, or that nothing closes; an object of JSON inside the answer. Two blocks that differ are none.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.reading.answers import ends_answer, plain, read_json, tag_pattern, whole_answer, without
from apps.reasoning.reading.closings import json_within

T = TypeVar("T", bound=Value)
OfTags = Callable[[str], dict[str, Any] | Unscored]

_ATTRIBUTE = re.compile(r"([a-z-]+)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>=/]+))", re.IGNORECASE)


def answer_read(final: Final, wrapper: str, shape: type[T], of_tags: OfTags) -> T | Unscored:
    """A whole answer in its shape. Anything unknown, missing or off is Unscored."""
    answer = whole_answer(final)
    if isinstance(answer, Unscored):
        return answer
    value = structure_in(answer, wrapper, tuple(shape.model_fields), of_tags)
    return value if isinstance(value, Unscored) else validated(value, wrapper, shape)


def structure_in(answer: str, wrapper: str, names: tuple[str, ...], of_tags: OfTags) -> dict[str, Any] | Unscored:
    """The fields of an answer, not checked yet. `names` are those by which an object of JSON inside it is known."""
    if (whole := read_json(answer)) is not None:
        return whole
    body = _block(answer, wrapper)
    if isinstance(body, str):
        inner = read_json(body)
        return of_tags(body) if inner is None else inner
    if body is None and (value := json_within(answer, *names)) is not None:
        return value
    return body or Unscored(reason=f"there is no <{wrapper}>")


def validated(value: dict[str, Any], wrapper: str, shape: type[T]) -> T | Unscored:
    """The fields in their shape, or what is wrong with the first one that is."""
    try:
        return shape.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        where = " ".join(str(part) for part in first["loc"]) or wrapper
        return Unscored(reason=f"{where}: {first['msg'].removeprefix('Value error, ')[:160]}")


def after_block(answer: str, wrapper: str) -> str:
    """What follows the last block of this tag; "" where none does."""
    closed = list(tag_pattern(wrapper).finditer(answer))
    return answer[closed[-1].end() :] if closed else ""


def _block(answer: str, wrapper: str) -> str | Unscored | None:
    """What the block of this tag holds; Unscored where it is not clear which one counts, None where there is none."""
    closed = list(tag_pattern(wrapper).finditer(answer))
    opened = list(_opening(wrapper).finditer(answer, closed[-1].end() if closed else 0))
    if not closed:
        begun = [one for one in opened if _is_alone(answer, one.start(), one.end())]
        return answer[begun[-1].end() :].rstrip("` \t\n") if begun else None
    last = closed[-1]
    if opened:
        return Unscored(reason=f"another <{wrapper}> begins after its <{wrapper}>")
    if ends_answer(answer, last.end()):
        return last[1]
    if not _is_alone(answer, last.start(), last.end(), after=True):
        return Unscored(reason=f"the answer does not end with its <{wrapper}>")
    if any(one[1].split() != last[1].split() for one in closed):
        return Unscored(reason=f"it gives two different <{wrapper}>")
    return last[1]


def _is_alone(answer: str, start: int, end: int, *, after: bool = False) -> bool:
    """Whether its line has nothing before it and, with `after`, nothing after it."""
    before = answer[answer.rfind("\n", 0, start) + 1 : start]
    behind = answer[end:].partition("\n")[0] if after else ""
    return not plain(before).strip("#~- ") and not plain(behind)


@cache
def _opening(wrapper: str) -> re.Pattern[str]:
    return re.compile(rf"<{wrapper}(?:\s[^<>]{{0,200}})?>", re.IGNORECASE)


def entries(body: str, tag: str) -> list[tuple[dict[str, str], str]]:
    """Every `<tag …>…</tag>` or `<tag …/>` of a body: its attributes by small names, empty ones left out, and what it holds."""
    return [(attributes(found.group(1)), (found.group(2) or "").strip()) for found in _entry(tag).finditer(body)]


@cache
def _entry(tag: str) -> re.Pattern[str]:
    # `a-tag` is another tag, and one that never ends does not swallow the next.
    inner = without(rf"{tag}(?![\w-])")
    return re.compile(rf"<{tag}(?![\w-])([^<>]{{0,300}}?)(?:/>|>({inner})</{tag}>)", re.IGNORECASE)


def outside(body: str, *tags: str) -> str:
    """The body without these entries: what is quoted in one, or said to the author, is no judgement."""
    for tag in tags:
        body = _entry(tag).sub(" ", body)
    return body


def attributes(text: str) -> dict[str, str]:
    """The attributes of a tag by small names, in quotation marks or bare; empty ones left out."""
    found = {name.lower(): (one or other or bare).strip() for name, one, other, bare in _ATTRIBUTE.findall(text)}
    return {name: value for name, value in found.items() if value}
