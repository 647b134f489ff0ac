"""How the page of a run presents its scaffold, in addition to the run's events."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Page:
    """Display options of a scaffold.

    `draws_lineage`: draw which solutions were made from which. `is_conversation`: show checks and corrections as a
    conversation. `continues`: a solution continues from a state written after its parent, not from the parent itself.
    `round_word`: the paper's word for a round. `round_title`: title of a round from its number and the run's parameters.
    `score_words`: score in words, by number of the report; None to show the number.
    """

    draws_lineage: bool = False
    is_conversation: bool = False
    continues: bool = False
    round_word: str = "Round"
    round_title: Callable[[int, Mapping[str, Any]], str] | None = None
    score_words: Callable[[int, float], str] | None = None

    def title(self, number: int, params: Mapping[str, Any]) -> str:
        """The heading of a round."""
        return self.round_title(number, params) if self.round_title else f"{self.round_word} {number}"
