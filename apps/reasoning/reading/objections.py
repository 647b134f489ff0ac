"""Objections in prose next to a verdict that finds none: severities in lines, and words that say that something is wrong."""

import re

from apps.reasoning.reading.answers import plain
from apps.reasoning.reading.said_values import Severity, severity

_SEVERITY = re.compile(r"\bseverity\b[ \t*_`\"”]*[:–—-]+[ \t*_`\"“]*([^\n]*)", re.IGNORECASE)
_LABELLED = re.compile(
    r"^[\s#*_`>+\-\d.)]*(critical|gaps?)(?:[ \t]+(?:errors?|issues?|points?))?[*_`]*[ \t]*:[*_`\s]*([^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_NONE = re.compile(r"(?:none|no|nothing|0|n/a|-)?(?![\w-])", re.IGNORECASE)
_NOTES = re.compile(r"(?:minor|low|trivial|cosmetic|none|n/a|no\b)", re.IGNORECASE)
_DENIED = re.compile(
    r"\b(?:no|not|n't|without|any|free of|nothing|never|neither)\s+(?:\w+\s+){0,4}?"
    r"(?:errors?|gaps?|issues?|faults?|mistakes?|wrong|incorrect|invalid|missing|false|flaws?|flawed)\b",
    re.IGNORECASE,
)
_WRONG = re.compile(
    r"\b(?:step\s+\d+|the\s+(?:proof|solution|argument|answer))\s+(?:is|are|was)\s+(?:\w+\s+)?(?:wrong|incorrect|invalid|false|flawed)\b"
    r"|\bthe\s+answer\s+is\s+fail\b",
    re.IGNORECASE,
)


def severities_in_lines(log: str) -> list[Severity | None]:
    """The severities that lines name (`Severity: gap`, `Critical: it divides by zero`); None for one that cannot be read."""
    found: list[Severity | None] = []
    for match in _SEVERITY.finditer(log):
        said = plain(match[1])
        found.append("note" if not said or _NOTES.match(said) else _alone(said))
    named = (match for match in _LABELLED.finditer(log) if not _NONE.fullmatch(plain(match[2]).partition(" ")[0]))
    found.extend("critical" if match[1].lower() == "critical" else "gap" for match in named)
    return found


def _alone(said: str) -> Severity | None:
    """A severity, unless what follows says that there is none."""
    value = severity(said)
    return None if value and re.search(r"\b(?:none|no)\b", said, re.IGNORECASE) else value


def objects(log: str) -> bool:
    """Does prose say of a step, or of the whole, that it is wrong?"""
    return bool(_WRONG.search(_DENIED.sub("", log)))
