"""The final answer in the text of a solution: a line `Answer:`, a box, or what the last line says is the answer."""

import re
from itertools import accumulate
from typing import NamedTuple

_ANSWER_LINE = re.compile(
    r"^[\s*_#>`]*(?:(?:the|my)\s+)?(?:final\s+)?answers?[\s*_]*(?:[:：][\s*_]*(?P<rest>.*)|)$", re.IGNORECASE
)
_REMARK = re.compile(r",?\s+(?:since|because|as (?:claimed|desired|required|wanted))\b.*$", re.IGNORECASE)
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{")
_SAYS = re.compile(
    r"\b(?:answers?|results?|solutions?|values?|minimum|maximum|number[^.$]{0,80})\b[^$]{0,80}?(?:\b(?:is|are|equals)\b|:)[\s:]*(?P<rest>.+)$",
    re.IGNORECASE,
)
_SAYS_ANSWER = re.compile(
    r"\b(?:the|my|our)\s+(?:final\s+)?answers?(?:\s+(?:to|of|for|in)\s[^$.,;:]{0,60}?)?\s*(?:\b(?:is|are|equals)\b|:)[\s:]*(?P<rest>.+)$",
    re.IGNORECASE,
)
_FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]", re.DOTALL)
_MOST_LOOKED_AT = 20_000
_MOST_LAST_LINE = 1_000
_MOST_BOXES = 50


class FinalAnswer(NamedTuple):
    """`is_stated` where a line, a box or “the answer is” says that this is the answer; else it is what the last line says."""

    text: str
    is_stated: bool


def final_answer(text: str) -> FinalAnswer:
    """The last line `Answer:` or box, whichever is later; else what the last line calls the answer; else its last formula."""
    tail = text[-_MOST_LOOKED_AT:]
    if len(text) > len(tail):
        tail = tail.partition("\n")[2] or text.rstrip().rpartition("\n")[2]
    line, line_at = _answer_line(tail)
    box, box_at, is_list = _boxes(tail)
    if line and line_at >= box_at:
        inside, _, is_list = _boxes(line)
        return FinalAnswer(inside or line, not inside or is_list)
    if box:
        return FinalAnswer(box, is_list)
    last = next((one.strip() for one in reversed(tail.splitlines()) if one.strip()), "")
    if len(last) > _MOST_LAST_LINE:
        return FinalAnswer(last, False)
    if says := _SAYS_ANSWER.search(last) or _SAYS.search(last):
        return FinalAnswer(_bare(_REMARK.sub("", says["rest"])), says.re is _SAYS_ANSWER)
    formulas = [next(part for part in found if part) for found in _FORMULA.findall(last)]
    return FinalAnswer(f"${formulas[-1]}$" if formulas else last, False)


def _answer_line(text: str) -> tuple[str, int]:
    lines = text.splitlines(keepends=True)
    places = [0, *accumulate(map(len, lines))]
    for number in range(len(lines) - 1, -1, -1):
        found = _ANSWER_LINE.match(lines[number].rstrip("\n"))
        if found is None:
            continue
        rest = _bare(found["rest"] or "")
        if not rest:  # The answer is in the next paragraph.
            below = "".join(lines[number + 1 :]).strip().split("\n\n")[0]
            rest = _bare(below)
        return rest, places[number]
    return "", -1


def _boxes(text: str) -> tuple[str, int, bool]:
    """The last boxed expression with its braces closed, and the others on its line; the place where it begins; whether no
    prose between several boxes says that one of them is no answer."""
    closed = [(match.start(), _closed(text, match.end())) for match in list(_BOXED.finditer(text))[-_MOST_BOXES:]]
    found = [(place, inside) for place, inside in closed if inside is not None]
    if not found:
        return "", -1, True
    start = text.rfind("\n", 0, found[-1][0]) + 1
    on_line = [(place, inside) for place, inside in found if place >= start]
    between = text[on_line[0][0] : on_line[-1][0]]
    for _, inside in on_line:
        between = between.replace(inside, " ", 1)
    is_list = set(re.findall(r"[a-z]{2,}", between.lower())) <= {"boxed", "fbox", "and", "or", "quad", "qquad", "text"}
    return ", ".join(inside if "$" in inside else f"${inside}$" for _, inside in on_line), found[-1][0], is_list


def _closed(text: str, start: int) -> str | None:
    depth = 1
    for place in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[start:place]
    return None


def _bare(text: str) -> str:
    """Without marks of emphasis around it and a full stop after it."""
    return text.strip().strip("*_`").strip().removesuffix(".").strip()
