"""Splits a proof into sentences and formulas, with all places in code points."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

_ALIGNED = r"(?:align|aligned|alignat|gather|gathered|equation|multline|eqnarray|flalign|split)\*?"
_FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<double>.+?)(?<!\\)\$\$"
    r"|(?<!\\)\$(?P<dollar>(?:[^$\n]|\\\$|\n(?!\s*\n))+?)(?<!\\)\$"
    r"|\\\((?P<round>.+?)\\\)|\\\[(?P<square>.+?)\\\]"
    rf"|\\begin\{{(?P<name>{_ALIGNED})\}}(?P<environment>.+?)\\end\{{(?P=name)\}}",
    re.DOTALL,
)
#: Names without dollars where a text introduces them: "Let n be a positive integer", "for all integers a and b".
_BARE = re.compile(
    r"(?:\b(?:[Ll]et|[Ss]uppose(?:\s+that)?|[Aa]ssume(?:\s+that)?|[Ii]f|[Ww]here|and|integers?|reals?|numbers?|primes?|[Aa]ll|[Aa]ny|[Ee]very|[Ee]ach)\s+)"
    r"(?P<names>(?:[A-Za-z]\s*(?:,\s*and\s+|,\s*|\s+and\s+))*[A-Za-z])(?=\s+(?:be|is|are|denote)\b|\s*[,.;:](?:\s|$))"
)
_LETTER = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")
_OPENING = re.compile(rf"(?<!\\)\$\$?|\\\(|\\\[|\\begin\{{{_ALIGNED}\}}")
_CLOSING = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]"}
_CODE = re.compile(r"^(```|~~~).*?(?:^\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_END = re.compile(r"[.!?](?=[\s\"')\]*_]|$)|\n[ \t>]*\n|\n(?=[ \t]*(?:[-*+]|\d+[.)]|#+)[ \t])")
_ABBREVIATION = re.compile(r"(?:\b(?:i\.e|e\.g|resp|cf|Eq|w\.l\.o\.g|W\.l\.o\.g|Ex|No|etc|vs|ineq)|\(\w|^\s*\**\d+)$")
MASK = "\ue020"


@dataclass(frozen=True, slots=True)
class Formula:
    """`text[start:end]` with its delimiters; `tex` begins at `inner`."""

    start: int
    end: int
    inner: int
    tex: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: `text[start:end]`, and the formulas in it."""

    start: int
    end: int
    formulas: tuple[Formula, ...]


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Matches of `_FORMULA`. Skips opening signs without a closing sign, so the work is linear."""
    last: dict[str, int] = {}
    position = 0
    while opening := _OPENING.search(text, position):
        closing = _CLOSING.get(opening[0]) or opening[0].replace("begin", "end")
        if closing not in last:
            last[closing] = text.rfind(closing)
        match = _FORMULA.match(text, opening.start()) if last[closing] >= opening.end() or opening[0] == "$$" else None
        if match:
            yield match
        position = match.end() if match else opening.start() + 1


def formulas(text: str) -> list[Formula]:
    """All formulas in order, without those in fenced code."""
    code = [match.span() for match in _CODE.finditer(text)]
    found = []
    for match in _matches(text):
        kind = next(key for key in ("double", "dollar", "round", "square", "environment") if match[key] is not None)
        if match[kind].strip() and not any(start <= match.start() < end for start, end in code):
            found.append(Formula(match.start(), match.end(), match.start(kind), match[kind]))
    return found


def _bare_names(text: str, found: list[Formula]) -> Iterator[Formula]:
    """Names that a text introduces without dollars, each as a formula."""
    for match in _BARE.finditer(text):
        start, end = match.span("names")
        if not any(one.start < end and start < one.end for one in found):
            for letter in _LETTER.finditer(text, start, end):
                yield Formula(letter.start(), letter.end(), letter.start(), letter[0])


def sentences(text: str) -> list[Sentence]:
    """The non-empty sentences in order. A full stop at the end inside a formula also ends the sentence."""
    found = formulas(text)
    found = sorted([*found, *_bare_names(text, found)], key=lambda one: one.start)
    masked = list(text)
    for formula in found:
        masked[formula.start : formula.end] = MASK * (formula.end - formula.start)
    plain = "".join(masked)
    ends = [
        match.end()
        for match in _END.finditer(plain)
        if not _ABBREVIATION.search(plain[max(0, match.start() - 12) : match.start()])
    ]
    ends += [formula.end for formula in found if re.search(r"(?<![.s])\.\s*(?:\\tag\{[^}]*\}\s*)?$", formula.tex)]
    result, start, starts = [], 0, [formula.start for formula in found]
    for end in sorted({*ends, len(text)}):
        if text[start:end].strip():
            inside = tuple(found[bisect_left(starts, start) : bisect_left(starts, end)])
            result.append(Sentence(start, end, inside))
        start = end
    return result
