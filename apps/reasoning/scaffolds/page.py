"""How the page of a run shows its scaffold, beside what follows from the run's events."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Page:
    """`draws_lineage`: solutions come from each other, and the page draws how from the beginning. `is_conversation`: checks and
    corrections are shown as one. `continues`: a solution was written from what was handed on after its parent, not from it.

    `round_word` is what the paper calls a round; `round_title` titles a round by its number and the run's parameters.
    `score_words` puts a score into words, by the number of the report; None where it is shown as a number.
    """

    draws_lineage: bool = False
    is_conversation: bool = False
    continues: bool = False
    round_word: str = "Round"
    round_title: Callable[[int, Mapping[str, Any]], str] | None = None
    score_words: Callable[[int, float], str] | None = None

    def title(self, number: int, params: Mapping[str, Any]) -> str:
        """A round as a heading."""
        return self.round_title(number, params) if self.round_title else f"{self.round_word} {number}"
