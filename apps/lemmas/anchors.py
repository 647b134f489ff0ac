"""Quotes of evidence in a text with their context; formulas are never split."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_STEP = re.compile(r"step (\d+)")


@dataclass(frozen=True)
class Quoted:
    """A source text split around a quote. `mark` is empty if the quote cannot be separated; then `before` is the whole text."""

    where: str
    before: str
    mark: str
    after: str

    @property
    def has_space_before(self) -> bool:
        """Whether white space precedes the quote. Renderers drop it at the end of a text."""
        return self.before[-1:].isspace()

    @property
    def has_space_after(self) -> bool:
        return self.after[:1].isspace()


def quoted(anchor: Mapping[str, Any], steps: Sequence[str], text: str = "") -> Quoted:
    """The text that `anchor` (a stored `TextAnchor`) points into, split around its quote.

    `steps` are the steps of the anchored lemma or proof, `text` is its whole text. Offsets count code points. If they do
    not match the text, the first occurrence of the quote is used.
    """
    where, quote = str(anchor.get("where", "")), str(anchor.get("quote", ""))
    source = _source(where, steps, text)
    start = int(anchor.get("start", 0))
    if source[start : start + len(quote)] != quote:
        start = source.find(quote)
    if not quote or start < 0:
        return Quoted(where, quote or source, "", "")
    end = start + len(quote)
    if inside_formula(source, start) or inside_formula(source, end):
        return Quoted(where, source, "", "")
    return Quoted(where, source[:start], quote, source[end:])


def _source(where: str, steps: Sequence[str], text: str) -> str:
    found = _STEP.fullmatch(where)
    if found and 1 <= int(found[1]) <= len(steps):
        return steps[int(found[1]) - 1]
    return text or "\n\n".join(steps)


def inside_formula(text: str, place: int) -> bool:
    """Whether `place` lies between the delimiters of a formula: `$…$`, `$$…$$`, `\\(…\\)`, `\\[…\\]`."""
    before = text[:place]
    dollars = len(re.findall(r"(?<!\\)\$\$?", before))
    return bool(dollars % 2) or before.count("\\(") > before.count("\\)") or before.count("\\[") > before.count("\\]")
