"""Find the answer in a model's text: after the thinking, whole, and not empty."""

import json
import re
from typing import Any

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.decoded import keepable

_THINK_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_THINK_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_DECORATION = re.compile(r"(?:\s|```|\*\*|\$)*\Z")
_CODE_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
# TeX commands whose first letter is also a JSON escape: `\frac` would silently become a form feed and "rac".
_TEX_ESCAPE = re.compile(
    r"(?<!\\)((?:\\\\)*)\\(?=(?:b(?:ar|egin|eta|ig|igl|igr|inom|mod|ot|oxed|f)|f(?:rac|orall|loor)|n(?:abla|e|eq|eg|mid|ot|otin|u)"
    r"|r(?:angle|ceil|floor|ho|ight|ightarrow|m)|t(?:an|au|ext|extbf|frac|heta|ilde|imes|o|op|riangle))(?![A-Za-z]))"
)
_BAD_ESCAPE = re.compile(r'(?<!\\)((?:\\\\)*)\\(?![\\"/bfnrtu]|u[0-9a-fA-F]{4})')


def answer_part(text: str) -> str | Unscored:
    """The text after the thinking part. Unscored if the thinking never ended or nothing follows it."""
    text = text.replace("\r\n", "\n")
    closings = list(_THINK_CLOSE.finditer(text))
    answer = text[closings[-1].end() :] if closings else text
    if _THINK_OPEN.search(answer):
        return Unscored(reason="the thinking part never ended")
    answer = answer.strip()
    return answer or Unscored(reason="the answer is empty")


def thinking_of(final: Final) -> str:
    """The thinking before an answer, or without one: the reasoning field, or the thinking part of the text."""
    if final.reasoning.strip():
        return final.reasoning.strip()
    closings = list(_THINK_CLOSE.finditer(final.text))
    rest = final.text[closings[-1].end() :] if closings else final.text
    thinking = final.text if _THINK_OPEN.search(rest) else final.text[: closings[-1].start()] if closings else ""
    return _THINK_CLOSE.sub("", _THINK_OPEN.sub("", thinking)).strip()


def whole_answer(final: Final) -> str | Unscored:
    """The answer of a call that ended by itself. A text cut off at its token limit has no verdict."""
    if final.finish_reason != "stop":
        return Unscored(reason="the text was cut off at its token limit")
    return answer_part(final.text)


def ends_answer(answer: str, end: int) -> bool:
    """Does nothing but whitespace and closing decoration follow position `end`?"""
    return _DECORATION.match(answer, end) is not None


def tag_pattern(tag: str) -> re.Pattern[str]:
    """A `<tag>…</tag>` with any attributes and without another one inside; group 1 is its content."""
    inner = without(rf"{tag}[\s>]")
    return re.compile(rf"<{tag}(?:\s[^<>]{{0,200}})?>({inner})</{tag}\s*>", re.IGNORECASE)


def without(tag: str) -> str:
    """The pattern of any text in which neither `<tag` nor `</tag` occurs. Runs from `<` to `<`, not letter by letter."""
    return rf"[^<]*(?:<(?!/?{tag})[^<]*)*"


def plain(said: str) -> str:
    """The content of a tag or field without Markdown emphasis, quotation marks and punctuation around it."""
    return said.strip(" \t\r\n*_`\"'“”.,;:!")


def plain_word(said: object) -> object:
    """A word of a structured form, `plain` and in lower case; values that are no text are unchanged."""
    return plain(said).lower() if isinstance(said, str) else said


def closing_match(answer: str, *patterns: re.Pattern[str], what: str) -> re.Match[str] | Unscored:
    """The last match of the first pattern that occurs, if it ends the answer; so a quoted match does not count.

    `what` names the thing in the reason.
    """
    found = next((matches for pattern in patterns if (matches := list(pattern.finditer(answer)))), None)
    if found is None:
        return Unscored(reason=f"there is no {what}")
    if not ends_answer(answer, found[-1].end()):
        return Unscored(reason=f"the answer does not end with its {what}")
    return found[-1]


def read_json(answer: str) -> dict[str, Any] | None:
    """The answer as one JSON object (bare or in a code fence), with single backslashes of TeX repaired; else None."""
    body = match.group(1) if (match := _CODE_FENCE.match(answer)) else answer
    if not body.lstrip().startswith("{"):
        return None
    repaired = _BAD_ESCAPE.sub(r"\1\\\\", _TEX_ESCAPE.sub(r"\1\\\\", body))
    try:
        value = keepable(json.loads(repaired, strict=False))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
