"""How close a guess comes to a solution: the share of the words and formulas specific to one of its steps that it contains.

Guesses with and without a hint are compared; only the difference measures the hint. The measure uses words and formulas, so a
guess in other words counts for less than it should.
"""

import re
from collections.abc import Iterable, Sequence

from apps.reasoning.feedback.leaks import words_in

WORD_LENGTH = 5  # Shorter words are too common.
STEP_AT_LEAST = 3  # A step with fewer specific words and formulas is ignored.
#: By level, the largest allowed gain from a hint; hints of other levels state a claim themselves.
_LIMITS = {0: 0.3, 1: 0.3, 2: 0.3, 3: 0.3, 4: 0.5}
_PARAGRAPH = re.compile(r"\n\s*\n")
_COMMON = {
    "which", "there", "their", "these", "those", "where", "hence", "since", "because", "therefore", "every", "other", "would",
    "could", "should", "about", "means", "shows", "shown", "follows", "holds", "number", "numbers", "first", "second", "cannot",
}  # fmt: skip


def gain_limit(level: int) -> float | None:
    """The gain from which a hint of this level reveals too much; None for no limit."""
    return _LIMITS.get(level)


def nearness(guess: str, solutions: Iterable[str], known: Iterable[str] = ()) -> float:
    """The largest share of a step of a solution that the guess contains, 0 to 1; `known` text does not count."""
    reader = _particular(known)
    said = _particular([guess]) - reader
    steps = (_particular([step]) - reader for solution in solutions for step in _PARAGRAPH.split(solution))
    return max((len(said & step) / len(step) for step in steps if len(step) >= STEP_AT_LEAST), default=0.0)


def _particular(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _kept(words_in(text))}


def _kept(words: Sequence[str]) -> list[str]:
    """Longer formulas, and long words that are not common."""
    return [word for word in words if len(word) >= WORD_LENGTH and word not in _COMMON]
