"""Finds formulas in text: `\\( \\)`, `\\[ \\]`, `$ $`, `$$ $$` and bare environments, never inside code. Pure.

static/js/formulas.js follows the same rules for text that still streams; tests/maths compares the two.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

MAX_INLINE = 2_000
MAX_DISPLAY = 6_000
HIDDEN_BREAK = "\ue00a"  # What apps/ui/formulas.py writes for a line break inside a formula.

ENVIRONMENTS = (
    *("equation", "align", "gather", "multline", "eqnarray", "alignat", "flalign", "aligned", "gathered", "split"),
    *("cases", "array", "matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix"),
)
_BEGIN = re.compile(r"\\begin\{((?:" + "|".join(ENVIRONMENTS) + r")\*?)\}")
_OPENING = re.compile(rf"\\[(\[]|\$\$|{_BEGIN.pattern}")
# A blank line or fenced code ends an inline formula that is not closed; fenced code ends a display as well.
_INLINE_END = re.compile(r"\n[ \t\r]*(?:\n|`{3}|~{3})")
_DISPLAY_END = re.compile(r"\n(?:[ \t]*>)*[ \t]*(?:`{3}|~{3})")
_SIGNS_OF_TEX = re.compile(r"[\\^_=<>+{}]|^\s*(?:[A-Z]{1,6}|[a-z])'*\s*$")  # TeX, or the name of a point or a variable.
_FENCE = re.compile(r"(?:[ \t]*>)*[ \t]*(`{3,}(?=[^`\n]*(?:\n|$))|~{3,})")
_SPECIAL = re.compile(r"[\\$`\n]")
_DOLLAR_SIGNS = re.compile(r"\\.|[{}$]", re.DOTALL)
_NESTED_REACH = 200


class Formula(NamedTuple):
    """A formula in a text: `text[start:end]` with its delimiters, and the TeX between them."""

    start: int
    end: int
    tex: str
    display: bool


def formula_at(text: str, position: int) -> Formula | None:
    """The formula that opens exactly at `position`, if one does and is closed within its limit."""
    if text.startswith("\\(", position):
        return _until(text, position, "\\)", MAX_INLINE, display=False)
    if text.startswith("\\[", position):
        return _until(text, position, "\\]", MAX_DISPLAY, display=True)
    if text.startswith("\\begin{", position):
        return _environment(text, position)
    if text.startswith("$$", position):
        return _until(text, position, "$$", MAX_DISPLAY, display=True)
    if text.startswith("$", position):
        return _dollars(text, position)
    return None


def _until(text: str, position: int, closer: str, most: int, *, display: bool) -> Formula | None:
    start = position + 2
    end = _closing(text, start, closer, start + most)
    if end < 0 or not text[start:end].strip() or (_DISPLAY_END if display else _INLINE_END).search(text, start, end):
        return None
    return Formula(position, end + 2, text[start:end], display)


def _closing(text: str, start: int, closer: str, stop: int) -> int:
    """The position of an unescaped `closer`: a backslash escapes the character after it."""
    place = start
    while (place := text.find(closer, place, stop)) >= 0:
        before = place
        while before > start and text[before - 1] == "\\":
            before -= 1
        if (place - before) % 2 == 0:
            return place
        place += 1
    return -1


def _environment(text: str, position: int) -> Formula | None:
    opening = _BEGIN.match(text, position)
    if opening is None:
        return None
    begin, end = opening[0], f"\\end{{{opening[1]}}}"
    depth, place, stop = 1, opening.end(), position + MAX_DISPLAY
    while depth:
        closing = text.find(end, place, stop)
        if closing < 0:
            return None
        depth += text.count(begin, place, closing) - 1
        place = closing + len(end)
    return None if _DISPLAY_END.search(text, position, place) else Formula(position, place, text[position:place], True)


def _dollars(text: str, position: int) -> Formula | None:
    """`$…$`: no digit before or after, so that "costs $5 and $6" stays a price.

    Space next to a dollar sign is accepted only if the first one can open a formula and the content looks like TeX.
    """
    before, start = text[position - 1 : position] if position else "", position + 1
    if before.isdecimal():
        return None
    end = _closing_dollar(text, start, start + MAX_INLINE)
    if end > 0 and (barrier := _INLINE_END.search(text, start, end)):
        end = _closing_dollar(text, start, barrier.start())
    content = text[start:end]
    if end < 0 or not content.strip() or text[end + 1 : end + 2].isdecimal():
        return None
    padded = content[0].isspace() or content[-1].isspace()
    if padded and not (_can_open(before) and _SIGNS_OF_TEX.search(content)):
        return None
    return Formula(position, end + 1, content, False)


def _can_open(before: str) -> bool:
    return not before or before.isspace() or before in HIDDEN_BREAK + "(["


def _closing_dollar(text: str, start: int, stop: int) -> int:
    """The `$` outside braces (`\\text{if $n$ is odd}` holds its own), else the first one."""
    depth, first, limit = 0, -1, stop
    for found in _DOLLAR_SIGNS.finditer(text, start, stop):
        if first >= 0 and found.start() >= limit:
            break
        sign = found[0]
        if sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
        elif sign == "$":
            if depth <= 0:
                return found.start()
            if first < 0:
                first = found.start()
                limit = first + _NESTED_REACH
    return first


def code_end(text: str, position: int) -> int:
    """Where the code span that opens with the backticks at `position` ends; after the backticks, if it is not closed."""
    ticks = re.compile(r"`+").match(text, position)
    if ticks is None:
        return position + 1
    for closing in re.compile(r"`+|\n[ \t]*\n").finditer(text, ticks.end(), ticks.end() + MAX_DISPLAY):
        if closing[0][0] == "\n":
            break
        if len(closing[0]) == len(ticks[0]):
            return closing.end()
    return ticks.end()


class Unclosed(NamedTuple):
    """A sign that opens a formula which is never closed, so that it is shown as it was typed. `line` counts from 1."""

    sign: str
    line: int

    @property
    def closing(self) -> str:
        """What would close it."""
        return {"\\(": "\\)", "\\[": "\\]", "$$": "$$"}.get(self.sign) or self.sign.replace("begin", "end")


def formulas(text: str) -> Iterator[Formula]:
    """All formulas of a Markdown text in order, those in fenced code and code spans left out."""
    return (one for one in _scanned(text) if isinstance(one, Formula))


def unclosed(text: str, most: int = 5) -> list[Unclosed]:
    r"""The first `\(`, `\[`, `$$` and `\begin{…}` of a Markdown text that open no formula. A lone `$` may be a price.

    `most` bounds the work too: each of them is followed as far as a formula may reach.
    """
    signs = ((place, sign) for place in _scanned(text) if isinstance(place, int) and (sign := _OPENING.match(text, place)))
    return [Unclosed(sign[0], text.count("\n", 0, place) + 1) for place, sign in islice(signs, most)]


def _scanned(text: str) -> Iterator[Formula | int]:
    """The formulas of a text, and the places of signs that open none."""
    position = _after_fence(text, 0)
    while special := _SPECIAL.search(text, position):
        position, sign = special.start(), special[0]
        if sign == "\n":
            position = _after_fence(text, position + 1)
        elif sign == "`":
            position = code_end(text, position)
        elif found := formula_at(text, position):
            yield found
            position = found.end
        else:
            yield position
            position += 2 if sign == "\\" and text[position + 1 : position + 2] != "\n" else 1


def _after_fence(text: str, line_start: int) -> int:
    """The end of the fenced code that opens on the line at `line_start`; `line_start` where none does."""
    opening = _FENCE.match(text, line_start)
    if opening is None:
        return line_start
    marks = opening[1]
    closing = re.compile(rf"^(?:[ \t]*>)*[ \t]*{re.escape(marks)}{re.escape(marks[0])}*[ \t\r]*$", re.MULTILINE).search(
        text, opening.end()
    )
    return len(text) if closing is None else closing.end()
