"""The value of a tag or a line: pass or fail, A or B, a number, a group. None if it has no value, or two."""

import re
from typing import Literal

from apps.reasoning.reading.answers import plain

_PASSES = re.compile(r"pass(?:es|ed)?(?![\w-])", re.IGNORECASE)
_FAILS = re.compile(r"fail(?:s|ed|ure)?(?![\w-])", re.IGNORECASE)
_HEDGED = re.compile(
    r"\b(?:or|unless|if|not|no|but|however|though|although|except|only|when|with|wrong|errors?|incorrect|invalid|missing|lacks?"
    r"|requires?|fail\w*|gaps?|critical|major)\b|\?",
    re.IGNORECASE,
)
_DOUBTED = re.compile(r"\b(?:or|unless|if|pass\w*|to\s+(?:find|identify|detect|see|spot|show))\b|\?", re.IGNORECASE)
#: Statements about the whole: "The solution is correct.", "The proof is invalid", "viable, but it contains several gaps".
_WHOLE = r"(?:(?:the|this)\s+)?(?:solution|proof|argument)(?:['’]s\s+(?:overall\s+)?approach)?"
_RIGHT = re.compile(
    rf"{_WHOLE}\s+is\s+[*_]*(?:(?:entirely|completely|fully)\s+)?(?:correct|valid)[*_]*\s*(?=[.,;:!]|\Z|(?:because|since|as|and)\b)",
    re.IGNORECASE,
)
_NOT_RIGHT = re.compile(
    rf"{_WHOLE}\s+is\s+[*_]*(?:(?:entirely|completely)\s+)?"
    r"(?:invalid|incorrect|wrong|incomplete|flawed|not\s+(?:correct|valid|complete))\b"
    rf"|{_WHOLE}\b[^?]{{0,300}}?\bcontains?\s+(?:(?!(?:no|not|any|neither)\b)[\w-]+\s+){{0,4}}?"
    r"(?:critical\s+errors?|(?:justification\s+)?gaps?)\b",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(r"\b(?:unless|if|pass\w*)\b|\?", re.IGNORECASE)
_LETTER = re.compile(r"(?:[Tt]he\s+)?(?:[Ss](?:olution|OLUTION)\s+)?[\"'“`*(]*([AB])(?![\w'])")
_LETTER_ALONE = re.compile(r"(?:the\s+)?(?:solution\s+)?([ab])", re.IGNORECASE)
#: Words that reverse a choice or take it back.
_AGAINST = re.compile(
    r"\b(?:[AB]|both|neither|or|not|tie|draw|equal\w*|worse|weaker|wrong|incorrect|flawed|errors?|gaps?|less|loses?)\b|\?"
)
_BETTER_THAN = re.compile(r"[\s*\"'”`)]*is\s+(?:the\s+)?better\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"(\d{1,6}(?:[.,]\d{1,6})?)(?:\s*(?:/|of|out\s+of)\s*(\d{1,6}))?\s*(?:points?|marks?)?(?![\w/])", re.IGNORECASE
)
_OTHER_NUMBER = re.compile(r"\d|\bor\b|\?", re.IGNORECASE)
#: What may follow a number: nothing, or a reason. `2 errors`, `5 %` and `7 possible` are no points.
_REASON = re.compile(r"\s*(?:[.,;:()\u2013\u2014*_]|- |(?:because|since|as)\b|\Z)", re.IGNORECASE)
_NOT_GIVEN = re.compile(r"\b(?:max\w*|possible|available|minus|less|part|deduct\w*)\b", re.IGNORECASE)
_GROUP = re.compile(r"(?:the\s+)?(?:group\s*)?(?:number\s*)?#?(\d{1,3})(?![\w.])", re.IGNORECASE)
_SEVERITY = re.compile(r"(?:(?:this|it)\s+is\s+)?(?:an?\s+)?[*_`\"']*(critical|gap|note)(?![\w-])", re.IGNORECASE)
Severity = Literal["critical", "gap", "note"]
_SEVERITIES: dict[str, Severity] = {"critical": "critical", "gap": "gap", "note": "note"}
_MINUS = str.maketrans("−–—‒﹣－", "------")


def passing(written: str) -> bool | None:
    """True for a pass, False for a fail, as a word or of the whole solution. A reason may follow, no doubt may."""
    said = plain(written)
    if found := _PASSES.match(said):
        return None if _HEDGED.search(said, found.end()) else True
    if found := _FAILS.match(said):
        return None if _DOUBTED.search(said, found.end()) else False
    if found := _NOT_RIGHT.match(said):
        return None if _SUPPOSED.search(said) else False
    if found := _RIGHT.match(said):
        return None if _HEDGED.search(said, found.end()) else True
    return None


def passing_alone(written: str) -> bool | None:
    """The same of a text that is nothing but the word."""
    return {"pass": True, "fail": False}.get(plain(written).lower())


def letter(written: str) -> Literal[0, 1] | None:
    """0 for `A`, `Solution A`, `A is better than B`; 1 for B."""
    said = plain(written)
    found = _LETTER_ALONE.fullmatch(said) or _LETTER.match(said)
    if found is None:
        return None
    rest = said[found.end() :]
    if not _BETTER_THAN.match(rest) and _AGAINST.search(rest):
        return None
    return 0 if found[1].upper() == "A" else 1


def number(written: str, of: float) -> float | None:
    """A number, alone or as a part of `of`: `5`, `5/7`, `5 out of 7`, `5 points`. A reason without numbers may follow."""
    said = plain(written)
    found = _NUMBER.match(said)
    if found is None or (found[2] is not None and float(found[2]) != of):
        return None
    if found[2] is None and _OTHER_NUMBER.search(said, found.end()):
        return None
    if not _REASON.match(said, found.end()) or _NOT_GIVEN.search(said, found.end()):
        return None
    return float(found[1].replace(",", "."))


def share_alone(written: str, of: float) -> float | None:
    """The value of a text that is only `5/7` or `5 out of 7`."""
    found = _NUMBER.fullmatch(plain(written))
    return number(written, of) if found and found[2] is not None else None


def severity(written: str) -> Severity | None:
    """The severity of an objection: `critical`, `a gap`, `This is a critical error because …`."""
    found = _SEVERITY.match(plain(written))
    return _SEVERITIES[found[1].lower()] if found else None


def group_number(written: str) -> int | None:
    """The number of a group: `2`, `Group 2`."""
    found = _GROUP.match(plain(written))
    return int(found[1]) if found and not _OTHER_NUMBER.search(plain(written), found.end()) else None


def with_minus(written: str) -> str:
    """The text with every sign that looks like a minus as one."""
    return written.translate(_MINUS)
