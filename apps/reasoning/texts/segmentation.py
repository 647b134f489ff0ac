"""The steps of a submission: numbered pieces of its source that a marker can point to.

    a block     lines between blank lines; a heading, a list item, a named part ("Case 2", "Claim") or a LaTeX environment of
                text begins one as well. A formula or fenced code is never cut, whatever lines it has.
    joined      a block continues the previous step if it begins with a displayed formula, with the sign that ends a proof, or
                with a lower-case letter after an unfinished sentence
    split       a long paragraph is cut at ends of sentences

Every character that is not white space is in exactly one step. Steps are stored with the version of the rules that made them
(`SEGMENTER`): newer rules can make steps again without moving an anchor, since anchors are places in the source.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Literal

from apps.reasoning.domain.values import Value
from apps.reasoning.texts.formulas import Formula, code_end, formulas

SEGMENTER = "1"
LONG = 700
SHORT = 120
JOINED_AT_MOST = 5_000
TAIL = 80  # How far back the end of a sentence is looked for.

_ITEM = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+•]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,5})[.)])[ \t]")
_PARTS = "step|case|subcase|claim|lemma|theorem|proposition|corollary|proof|part|solution|remark|conclusion"
_NAMED = "|".join(f"{word.capitalize()}|{word.upper()}" for word in _PARTS.split("|"))
_TEX = r"\\(?:begin|item|section|subsection|subsubsection|paragraph)\b"
_OPENS = re.compile(rf"[ \t]*(?:>[ \t]*)*(?:#{{1,6}}[ \t]|(?:\*\*|__|\\textbf\{{|\\emph\{{)?(?:{_NAMED})\b|{_TEX})")
_HEADING = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]+\S[^\n]*|(?:\*\*|__)[^\n]{1,120}?(?:\*\*|__)[:.]?|\\(?:sub)*section\*?\{[^\n]*\})[ \t]*"
)
_RULE = re.compile(r"[ \t]*(?:[-*_][ \t]*){3,}")
_ENDED = re.compile(r"[.!?…:;∎□■][\"'”’)\]*_$}\\]*\s*$|\\(?:qed|blacksquare|square|Box)\b[^\n]{0,4}$")
_SENTENCE = re.compile(r"[.!?][\"'”’)\]]*\s+(?=[\"'“‘(\[*]*[A-Z0-9$\\])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|cf|resp|w\.l\.o\.g|Fig|Eq|No|Thm|Prop|Lem|Cor|vs|[A-Z])\.$")
_CLOSES = re.compile(r"\\end\{[a-zA-Z]+\*?\}|\$?\\(?:blacksquare|square|Box|qed)\b|[∎□■]|Q\.?\s?E\.?\s?D\b")
_LIST_END = re.compile(r"[ \t]*\\end\{(?:enumerate|itemize|description)\}[ \t]*")
_SMALL = re.compile(r"[a-zà-ÿ]")
_BACKTICKS = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*$|`+", re.MULTILINE)


_Kind = Literal["text", "heading"]
_Span = tuple[int, int, _Kind]


class Step(Value):
    """`source[start:end]`, without white space around it. `number` begins with 1; `digest` is sha-256 of the text, in hex."""

    number: int
    start: int
    end: int
    kind: Literal["text", "heading"]
    digest: str

    def text_in(self, source: str) -> str:
        """The text of the step."""
        return source[self.start : self.end]


def segment(source: str, *, is_silent: Callable[[int, int], bool] | None = None) -> tuple[Step, ...]:
    """The steps of a source (`texts.source.source_of`) in order.

    `is_silent`, for LaTeX: says of a piece that nothing of it is shown; it belongs to the step after it, or at the end to the
    one before. There the end of a list ends a step as well.
    """
    cover = _Cover(source)
    pieces = _joined(source, list(_blocks(source, cover, ends_lists=is_silent is not None)), cover)
    spans = [(*span, _kind(source, *span)) for start, end in pieces for span in _split(source, start, end, cover)]
    return tuple(
        Step(number=number, start=start, end=end, kind=kind, digest=digest_of(source[start:end]))
        for number, (start, end, kind) in enumerate(_heard(spans, is_silent) if is_silent else spans, start=1)
    )


def sentences(source: str) -> tuple[Step, ...]:
    """The sentences of the steps in order: smaller places, for a text of one paragraph."""
    cover, pieces = _Cover(source), list[tuple[int, int]]()
    for step in segment(source):
        found = _SENTENCE.finditer(source, step.start, step.end)
        ends = [one.end() for one in found if _is_end(source, step.start, one, cover)]
        for start, end in pairwise([step.start, *ends, step.end]):
            closes = start > step.start and _CLOSES.match(source, start)
            before = pieces.pop()[0] if closes else start
            pieces += [(before, piece[1]) for piece in _trimmed(source, start, end)]
    return tuple(
        Step(number=number, start=start, end=end, kind=_kind(source, start, end), digest=digest_of(source[start:end]))
        for number, (start, end) in enumerate(pieces, start=1)
    )


def _heard(spans: list[_Span], is_silent: Callable[[int, int], bool]) -> list[_Span]:
    """The spans of which something is shown, each with the silent ones before it; all in one where nothing is shown at all."""
    heard: list[_Span] = []
    waits: int | None = None
    for start, end, kind in spans:
        waits = start if waits is None else waits
        if not is_silent(start, end):
            heard.append((waits, end, kind))
            waits = None
    if waits is not None:
        start, _, kind = heard.pop() if heard else (waits, 0, "text")
        heard.append((start, spans[-1][1], kind))
    return heard


def digest_of(text: str) -> str:
    """sha-256 in hex of exactly this text."""
    return hashlib.sha256(text.encode()).hexdigest()


class _Cover:
    """The places of formulas and code, to find whether a place is inside one."""

    def __init__(self, source: str) -> None:
        self.formulas: dict[int, Formula] = {one.start: one for one in formulas(source)}
        self.starts: list[int] = []
        self.ends: list[int] = []
        for start, end in sorted([*((one.start, one.end) for one in self.formulas.values()), *_code(source)]):
            if self.ends and start < self.ends[-1]:
                self.ends[-1] = max(self.ends[-1], end)
            else:
                self.starts.append(start)
                self.ends.append(end)

    def has(self, place: int) -> bool:
        """Is `place` strictly inside a formula or code?"""
        index = bisect_right(self.starts, place) - 1
        return index >= 0 and self.starts[index] < place < self.ends[index]


def _code(source: str) -> Iterator[tuple[int, int]]:
    """Fenced code and code spans."""
    place = 0
    while found := _BACKTICKS.search(source, place):
        place = found.end()
        if found[1]:
            closing = re.compile(rf"^[ \t]*{re.escape(found[1])}[ \t]*$", re.MULTILINE).search(source, found.end())
            place = closing.end() if closing else len(source)
        else:
            place = max(place, code_end(source, found.start()))
        yield found.start(), place


def _blocks(source: str, cover: _Cover, *, ends_lists: bool) -> Iterator[tuple[int, int]]:
    """Trimmed spans of blocks. Only lines that start outside formulas and code are examined."""
    start = place = 0
    while place <= len(source):
        end = source.find("\n", place)
        end = len(source) if end < 0 else end
        line = source[place:end]
        if not cover.has(place):
            is_alone = not line.strip() or _HEADING.fullmatch(line) is not None or _RULE.fullmatch(line) is not None
            if is_alone or _OPENS.match(line) or _is_item(source, start, place):
                yield from _trimmed(source, start, place)
                start = place
            is_last = is_alone or (ends_lists and _LIST_END.fullmatch(line) is not None)
            if is_last and not cover.has(end):
                yield from _trimmed(source, start, end)
                start = end
        place = end + 1
    yield from _trimmed(source, start, len(source))


def _is_item(source: str, start: int, place: int) -> bool:
    """Whether a list item begins on the line at `place`: in a list, or after a sentence; else the line was wrapped."""
    if _ITEM.match(source, place) is None:
        return False
    before = source[max(start, place - TAIL) : place]
    return not before.strip() or _ITEM.match(source, start) is not None or _ENDED.search(before) is not None


def _trimmed(source: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    text = source[start:end]
    if inner := text.strip():
        begin = start + text.index(inner)
        yield begin, begin + len(inner)


def _joined(source: str, blocks: list[tuple[int, int]], cover: _Cover) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    for start, end in blocks:
        if pieces and _continues(source, pieces[-1], start, cover):
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    return pieces


def _continues(source: str, before: tuple[int, int], start: int, cover: _Cover) -> bool:
    """Whether the text at `start` continues the sentence of the previous step."""
    is_apart = _kind(source, *before) == "heading" or _RULE.fullmatch(source, *before)
    if is_apart or _is_opening(source, start) or before[1] - before[0] > JOINED_AT_MOST:
        return False
    if _CLOSES.match(source, start):
        return True
    opening = cover.formulas.get(start)
    if opening is not None and opening.display:
        return True
    tail = source[max(before[0], before[1] - TAIL) : before[1]]
    has_ended = _ENDED.search(tail) is not None and not tail.endswith((":", ";", "$", "]", "}"))
    return bool(_SMALL.match(source, start)) and not has_ended


def _is_opening(source: str, start: int) -> bool:
    line_start = source.rfind("\n", 0, start) + 1
    opens = _OPENS.match(source, line_start) or _ITEM.match(source, line_start)
    return opens is not None and not source.startswith("\\begin", start)


def _split(source: str, start: int, end: int, cover: _Cover) -> Iterator[tuple[int, int]]:
    """A long piece cut at ends of sentences, none shorter than `SHORT`."""
    while end - start > LONG:
        cut = _cut(source, start, end, cover)
        if cut is None:
            break
        yield from _trimmed(source, start, cut)
        start = cut
    yield from _trimmed(source, start, end)


def _cut(source: str, start: int, end: int, cover: _Cover) -> int | None:
    """The last end of a sentence that leaves a piece of at most `LONG`, else the first one after it."""
    best = None
    for found in _SENTENCE.finditer(source, start + SHORT, end):
        place = found.end()
        if end - place < SHORT:
            break
        if not _is_end(source, start, found, cover):
            continue
        if place - start > LONG and best is not None:
            break
        best = place
        if place - start > LONG:
            break
    return best


def _is_end(source: str, start: int, found: re.Match[str], cover: _Cover) -> bool:
    """Whether a sentence of the piece at `start` ends there: outside formulas and code, and not after an abbreviation."""
    is_inside = cover.has(found.start()) or cover.has(found.end())
    return not is_inside and not _ABBREVIATION.search(source, max(start, found.start() - 8), found.start() + 1)


def _kind(source: str, start: int, end: int) -> Literal["text", "heading"]:
    return "heading" if source.find("\n", start, end) < 0 and _HEADING.fullmatch(source, start, end) else "text"
