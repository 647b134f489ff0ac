"""How near a guess comes to a solution: the share of what is particular to one of its steps that the guess has too.

Two guesses are compared, one with a hint and one without; only the difference says something about the hint. It is a measure of
words and formulas: a guess in other words counts for less than it should.
"""

import re
from collections.abc import Iterable, Sequence

from apps.reasoning.feedback.leaks import words_in

WORD_LENGTH = 5  # Shorter words stand everywhere.
STEP_AT_LEAST = 3  # A step with fewer words and formulas of its own tells nothing.
#: By level, how much more of a step a hint may make findable; levels that are absent tell a claim themselves.
_LIMITS = {0: 0.3, 1: 0.3, 2: 0.3, 3: 0.3, 4: 0.5}
_PARAGRAPH = re.compile(r"\n\s*\n")
_COMMON = {
    "which", "there", "their", "these", "those", "where", "hence", "since", "because", "therefore", "every", "other", "would",
    "could", "should", "about", "means", "shows", "shown", "follows", "holds", "number", "numbers", "first", "second", "cannot",
}  # fmt: skip


def gain_limit(level: int) -> float | None:
    """The gain from which a hint of this level tells too much; None where no gain is too much."""
    return _LIMITS.get(level)


def nearness(guess: str, solutions: Iterable[str], known: Iterable[str] = ()) -> float:
    """The largest share of a step of a solution that stands in the guess, 0 to 1; what is `known` does not count."""
    reader = _particular(known)
    said = _particular([guess]) - reader
    steps = (_particular([step]) - reader for solution in solutions for step in _PARAGRAPH.split(solution))
    return max((len(said & step) / len(step) for step in steps if len(step) >= STEP_AT_LEAST), default=0.0)


def _particular(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in _kept(words_in(text))}


def _kept(words: Sequence[str]) -> list[str]:
    """Formulas of some length, and long words that are not everybody's."""
    return [word for word in words if len(word) >= WORD_LENGTH and word not in _COMMON]
