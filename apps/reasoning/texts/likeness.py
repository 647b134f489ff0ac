"""Similarity of problems: fuzzy matching of words and signs, regardless of typesetting.

Texts are split into words, numbers and signs, without case, punctuation and TeX spacing. Those that share enough runs of three
are compared in full. The score is the share of one text that appears in the other in the same order, by runs.
Source: QED-Nano §3 (fuzzy string matching against benchmarks); how it is computed is our own.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Generic, TypeVar

K = TypeVar("K")
RUN = 3
#: Scores from which two texts are shown as alike, and from which they are treated as the same problem.
ALIKE, SAME = 0.5, 0.75
#: A text of fewer tokens is too short to be found inside a longer one.
SHORT = 12
#: Most texts compared in full: those that share most runs.
COMPARED = 12
_SETTING = re.compile(
    r"\\(?:left|right|big+[lr]?|displaystyle|textstyle|mathrm|mathbf|mathbb|mathcal|operatorname|text(?:bf|it|rm)?|emph"
    r"|[,;:!]|quad|qquad|begin|end|item)(?![A-Za-z])|\\[()\[\]]|[$~]",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\\[a-z]+|[^\W\d_]+|\d+|[=<>+*/^|-]")
_NAMES = {"\\leq": "\\le", "\\geq": "\\ge", "\\dfrac": "\\frac", "\\tfrac": "\\frac", "\\neq": "\\ne", "\\dots": "\\ldots"}
_NAMES |= {"\\cdots": "\\ldots", "≤": "\\le", "≥": "\\ge"}


def tokens_of(text: str) -> tuple[str, ...]:
    """Words, numbers and signs in lower case."""
    plain = _SETTING.sub(" ", text.replace("≤", r" \le ").replace("≥", r" \ge ")).casefold()
    return tuple(_NAMES.get(token, token) for token in _TOKEN.findall(plain))


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of the shorter text that appears in the longer one in runs, 0 to 1; lower if only a small part is shared.

    If one text contains the other, the shorter one decides; texts shorter than `SHORT` are compared as a whole.
    """
    if not one or not other:
        return 0.0
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    shared = sum(block.size for block in blocks if block.size >= RUN)
    shorter, both = min(len(one), len(other)), len(one) + len(other)
    return shared / shorter if shorter >= SHORT else 2 * sum(block.size for block in blocks) / both


@dataclass(frozen=True)
class Alike(Generic[K]):
    """A text of the index with its likeness to the one that was asked about."""

    key: K
    score: float

    @property
    def is_same(self) -> bool:
        """Held to be the same problem."""
        return self.score >= SAME


class LikenessIndex(Generic[K]):
    """Texts among which those alike to another are found."""

    def __init__(self, texts: Iterable[tuple[K, str]]) -> None:
        self._texts = [(key, tokens_of(text)) for key, text in texts]
        self._places: dict[tuple[str, ...], list[int]] = {}
        for place, (_, tokens) in enumerate(self._texts):
            for run in _runs(tokens):
                self._places.setdefault(run, []).append(place)

    def __len__(self) -> int:
        return len(self._texts)

    def alike(self, text: str, at_least: float = ALIKE) -> list[Alike[K]]:
        """Texts alike to this one, the most alike first."""
        tokens = tokens_of(text)
        shared = Counter(place for run in _runs(tokens) for place in self._places.get(run, ()))
        found = []
        for place, _ in shared.most_common(COMPARED):
            key, other = self._texts[place]
            if (score := likeness(tokens, other)) >= at_least:
                found.append(Alike(key, score))
        return sorted(found, key=lambda one: -one.score)


def _runs(tokens: Sequence[str]) -> set[tuple[str, ...]]:
    """Every run of three tokens; a shorter text is one run."""
    if len(tokens) < RUN:
        return {tuple(tokens)} if tokens else set()
    return {tuple(tokens[start : start + RUN]) for start in range(len(tokens) - RUN + 1)}
