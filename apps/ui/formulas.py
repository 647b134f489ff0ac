"""Formulas in Markdown: hide characters that Markdown would misread. `apps/reasoning/texts/formulas.py` finds them. Pure."""

import re

from apps.reasoning.texts.formulas import (
    HIDDEN_BREAK,
    MAX_DISPLAY,
    MAX_INLINE,
    Formula,
    code_end,
    formula_at,
    formulas,
    unclosed,
)

__all__ = [
    "MAX_DISPLAY",
    "MAX_INLINE",
    "Formula",
    "code_end",
    "formula_at",
    "formulas",
    "hide_breaks",
    "show_breaks",
    "unclosed",
    "without_hidden",
]

# Placeholders, like HIDDEN_BREAK, for a quotation mark and a bar, which Markdown must not see inside a formula.
HIDDEN_QUOTE = "\ue00b"
HIDDEN_BAR = "\ue00c"


def hide_breaks(text: str) -> str:
    """The text, same length, with every formula on one line, so that `+` or `=` at a line's start makes no list.

    Bars are hidden because they would end a table's cell. Quotation marks (`>`) at the start of further lines are hidden too
    if the formula is in a quotation.
    """
    pieces, done = [], 0
    for formula in formulas(text):
        raw = text[formula.start : formula.end]
        if "\n" not in raw and "|" not in raw:
            continue
        line_start = text.rfind("\n", 0, formula.start) + 1
        if text[line_start : formula.start].lstrip().startswith(">"):
            raw = re.sub(r"(?<=\n)[ \t]*>[ \t]?", lambda mark: HIDDEN_QUOTE * len(mark[0]), raw)
        pieces += [text[done : formula.start], raw.replace("\n", HIDDEN_BREAK).replace("|", HIDDEN_BAR)]
        done = formula.end
    return "".join([*pieces, text[done:]])


def show_breaks(text: str) -> str:
    """Undo `hide_breaks` in a piece of its result."""
    return text.replace(HIDDEN_QUOTE, "").replace(HIDDEN_BREAK, "\n").replace(HIDDEN_BAR, "|")


def without_hidden(text: str) -> str:
    """The text with this module's placeholder characters replaced by spaces."""
    return text.translate(dict.fromkeys(map(ord, (HIDDEN_BREAK, HIDDEN_QUOTE, HIDDEN_BAR)), " "))
