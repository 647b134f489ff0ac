"""Answers in the layout of their prompt: the user message copied, heading by heading, with another solution."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.echoes import SHORTEST_WHOLE, bare, outside, shown

#: Why a copy of the prompt's layout has no solution; the second question says so too (shared/again/unchanged).
UNCHANGED = "it hands in the given solution unchanged"
_SEVERAL = "it copies the layout of what was asked with several changed solutions"
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]*([^\n]{0,200}?)[ \t#]*$", re.MULTILINE)
_OF_A_SOLUTION = re.compile(r"(?:\w+[ \t]+){0,2}(?:solutions?|proof)(?:[ \t]+of others)?[ \t]*:?\Z", re.IGNORECASE)
_BLOCK = re.compile(r"<<<CONTENT (\w{4,64})>>>[ \t]*\n(.*?)(?:<<<END \1>>>|\Z)", re.DOTALL)
_OPENED = re.compile(r"<<<CONTENT (\w{4,64})>>>")
_FENCE_LINE = re.compile(r"^[ \t]*(?:```[a-z]*|<<<(?:CONTENT|END)\b[^\n]*)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_STEP = re.compile(r"^[ \t]*\**Step[ \t]+\d{1,3}[ \t]*[.:)]\**[ \t]*", re.IGNORECASE | re.MULTILINE)


class LaidOut(NamedTuple):
    """A solution, its steps as paragraphs; `is_last`: the answer ends with it."""

    text: str
    is_last: bool


def laid_out(answer: str, prompt: str, *, is_cut: bool) -> LaidOut | Unscored | None:
    """The solution of an answer that repeats its prompt's layout: the one text under a heading of a solution that differs from
    every text of the prompt. `bare` removes insubstantial differences.

    `UNCHANGED` where all such texts are the prompt's, or the beginning of one in an answer that `is_cut`. None where the answer
    has another layout, or the prompt has no heading of a solution.
    """
    sections = _sections(answer, prompt)
    if sections is None:
        return None
    given = {_substance(text) for text in shown(prompt)}
    texts = {_substance(text): text for section in sections for text in _texts(section)}
    known = {one for one in texts if one in given or (is_cut and one and any(text.startswith(one) for text in given))}
    changed = [text for one, text in texts.items() if one not in known and len(text) >= SHORTEST_WHOLE]
    if len(changed) > 1:
        return Unscored(reason=_SEVERAL)
    if changed:
        return LaidOut(_STEP.sub("\n", changed[0]).strip(), answer.rstrip().endswith(changed[0]))
    return Unscored(reason=UNCHANGED) if known else None


def _sections(answer: str, prompt: str) -> list[str] | None:
    """The texts under the headings of solutions, the prompt's and its own; None if the layout is not the prompt's.

    It is where the answer has two of the prompt's headings, or a fence under one.
    """
    titles = [match[1] for match in _HEADING.finditer(outside(prompt))]
    asked = {bare(title) for title in titles}
    if not any(_OF_A_SOLUTION.match(title) for title in titles):
        return None
    fences = list(_fences(answer))
    copied = [match for match in _HEADING.finditer(answer) if bare(match[1]) in asked]
    heads = [
        match
        for match in _HEADING.finditer(answer)
        if bare(match[1]) in asked
        or (_OF_A_SOLUTION.match(match[1]) and not any(start < match.start() < end for start, end in fences))
    ]
    bounds = [*(match.start() for match in heads), len(answer)]
    parts = [(head, answer[head.end() : end]) for head, (_, end) in zip(heads, pairwise(bounds), strict=True)]
    found = [text for head, text in parts if _OF_A_SOLUTION.match(head[1])]
    has_layout = len(copied) > 1 or (copied and any(_BLOCK.match(text.lstrip()) for text in found))
    return found if found and has_layout else None


def _fences(answer: str) -> Iterator[tuple[int, int]]:
    """Start and end of each closed fence."""
    end, open_names = 0, set[str]()
    for match in _OPENED.finditer(answer):
        if match.start() >= end and match[1] not in open_names:
            found = answer.find(f"<<<END {match[1]}>>>", match.end())
            if found < 0:
                open_names.add(match[1])
            else:
                end = found
                yield match.start(), end


def _texts(section: str) -> list[str]:
    """What its fences hold; all of it where it has none."""
    blocks = [match[2] for match in _BLOCK.finditer(section)] or [section]
    return [_FENCE_LINE.sub("", block).strip() for block in blocks]


def _substance(text: str) -> str:
    return bare(_STEP.sub("", text))
