"""Find where a text names lemmas: `Lemma 3`, `Lemmas 2, 4 and 7`, `Lemmas 2–5`, `Lemma 7-fixed`, `Lemma s1.3`, `Lemma H1`."""

import re
from collections.abc import Callable

from apps.reasoning.domain.values import Value

_LABEL = r"(?:s\d+\.\d+|h\.\d+|H\d+|\d+)(?:-fixed\d*)?"
_ONE = rf"\$?\s*(?<![\w.]){_LABEL}(?![\w])\s*\$?"
_JOIN = r"\s*(?:,\s*and\b|,|and\b|&|[-–—]|to\b)\s*"
# A singular names one lemma only: in "by Lemma 3 and 4 divides n" the 4 is a number.
_LIST = re.compile(rf"\bLemmas[\s~*]+{_ONE}(?:{_JOIN}{_ONE})*|\bLemma[\s~*]+{_ONE}", re.IGNORECASE)
_ITEM = re.compile(rf"(?<![\w.])({_LABEL})(?![\w])")
_RANGE = re.compile(r"\s*(?:[-–—]|to\b)\s*\$?\s*\Z")
_RANGE_LIMIT = 30
_USING = re.compile(
    r"\b(?:by|from|using|use|apply|applying|via|invoke|invoking|because of|due to|thanks to)\s+\Z", re.IGNORECASE
)


class Mention(Value):
    """One lemma named in a text: `text[start:end] == quote`, in code points. `label` is the name without "Lemma"."""

    label: str
    start: int
    end: int
    quote: str


def mentions(text: str) -> tuple[Mention, ...]:
    """All lemmas that `text` names, in order; a range of numbers names each lemma in it."""
    found: list[Mention] = []
    for match in _LIST.finditer(text):
        last = match.start()
        before: int | None = None
        for item in _ITEM.finditer(text, match.start(), match.end()):
            label = item.group(1)
            quote = _closed(match.group().rstrip())
            end = match.start() + len(quote)
            if before is not None and label.isdigit() and _RANGE.search(text, last, item.start()):
                between = range(before + 1, int(label))
                found += [
                    Mention(label=str(number), start=match.start(), end=end, quote=quote) for number in between[:_RANGE_LIMIT]
                ]
            found.append(Mention(label=label, start=match.start(), end=end, quote=quote))
            last, before = item.end(), int(label) if label.isdigit() else None
    return tuple(found)


def is_use(text: str, mention: Mention) -> bool:
    """Does the text use the lemma there ("by Lemma 3"), not just name it ("this proves Lemma 3")?"""
    return _USING.search(text, max(0, mention.start - 24), mention.start) is not None


def _closed(quote: str) -> str:
    """Without a last `$` that opens the formula after the mention: in "Lemma 7 $p$ …" it is not part of the name."""
    return quote[:-1].rstrip() if quote.endswith("$") and quote.count("$") % 2 else quote


def relabel(text: str, rename: Callable[[str], str]) -> str:
    """`text` with every lemma label in it renamed."""
    return _LIST.sub(lambda match: _ITEM.sub(lambda item: rename(item.group(1)), match.group()), text)
