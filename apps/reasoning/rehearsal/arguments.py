"""What simulated agents write: texts that name their argument, of which only the agents remember whether it is right.

A name is a line such as "Argument 3f9c04ab." in a solution and "Reasoning 3f9c04ab." in partial work and lemmas.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from apps.reasoning.domain.trial_events import AttemptKind
from apps.reasoning.rehearsal.chances import uniform
from apps.reasoning.trying.material import Attempt

#: The right answer of every rehearsed problem, and the wrong ones; the first wrong one is the most frequent.
RIGHT, WRONG = "1", ("2", "3", "5")
_NAMED = re.compile(r"\b(Argument|Reasoning) ([0-9a-f]{8})\b")
_POINTS: dict[AttemptKind, float] = {"right": 7, "gap": 4, "wrong": 1}


@dataclass(frozen=True)
class Argument:
    """A text of an agent. `tokens`: what its text counts in a prompt; the words that stand for it are much shorter."""

    name: str
    is_right: bool
    tokens: int
    word: Literal["Argument", "Reasoning"] = "Argument"

    @property
    def text(self) -> str:
        """The text in paragraphs, with a final answer."""
        return f"{self.word} {self.name}. We rewrite the claim.\n\nHence the claim follows.\n\nAnswer: ${self.answer}$"

    @property
    def answer(self) -> str:
        """The final answer. Wrong arguments agree on one of a few wrong answers more often than not."""
        if self.is_right:
            return RIGHT
        draw = uniform("answer", self.name)
        return WRONG[0] if draw < 0.5 else WRONG[1] if draw < 0.8 else WRONG[2]

    def as_judged(self, kind: AttemptKind) -> Attempt:
        """The text as a judge sees it who finds it right, or wrong in its details or as a whole."""
        return Attempt(kind=kind, points=_POINTS[kind], text=self.text)


class Memory:
    """All arguments of a cell."""

    def __init__(self) -> None:
        self._known: dict[str, Argument] = {}

    def add(self, argument: Argument) -> Argument:
        """Remember an argument."""
        self._known[argument.name] = argument
        return argument

    def named_in(self, text: str) -> list[Argument]:
        """The arguments that a text names, each once, in order; partial work only if it names no solution."""
        found = list(dict.fromkeys(_NAMED.findall(text)))
        return self._of(found, "Argument") or self._of(found, "Reasoning")

    def all_in(self, text: str) -> list[Argument]:
        """All arguments that a text names, once for each time, solutions and partial work."""
        return [self._known[name] for _, name in _NAMED.findall(text) if name in self._known]

    def _of(self, found: Iterable[tuple[str, str]], word: str) -> list[Argument]:
        return [self._known[name] for kind, name in found if kind == word and name in self._known]
