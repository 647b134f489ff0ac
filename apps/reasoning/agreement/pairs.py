"""The input of agreement: pairs of points for the same paper, and which of them count."""

from collections.abc import Iterable, Sequence
from typing import Self

from pydantic import Field

from apps.reasoning.domain.values import Unscored, Value


class Pair(Value):
    """One paper with a person's points and those of another rater (a model grader, a second person).

    `contaminated` is why the person's mark was not independent, such as "made after a reveal"; "" if it was.
    `problem` is "" if unknown. `author` is the origin of the paper: student, model, a model's name.
    """

    paper: str
    human: float | Unscored
    predicted: float | Unscored
    problem: str = ""
    author: str = ""
    contaminated: str = ""
    groups: dict[str, str] = Field(default_factory=dict)


class Scored(Value):
    """A pair with points on both sides."""

    paper: str
    human: float
    predicted: float
    problem: str = ""


class Missing(Value):
    """A paper without a result, and why."""

    paper: str
    reason: str


class Sorted(Value):
    """Pairs by whether they count.

    A pair counts where both sides have points and the person's mark was independent. `unscored` are independent marks without
    a prediction: they are in no statistic, neither as 0 nor as anything else. `unmarked` have no mark of a person.
    """

    scored: tuple[Scored, ...]
    unscored: tuple[Missing, ...]
    unmarked: tuple[Missing, ...]
    contaminated: tuple[Missing, ...]

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Self:
        """Check contamination first: a mark made after a reveal is reported as such, whatever else is missing."""
        scored: list[Scored] = []
        unscored: list[Missing] = []
        unmarked: list[Missing] = []
        contaminated: list[Missing] = []
        for pair in pairs:
            if pair.contaminated:
                contaminated.append(Missing(paper=pair.paper, reason=pair.contaminated))
            elif isinstance(pair.human, Unscored):
                unmarked.append(Missing(paper=pair.paper, reason=pair.human.reason))
            elif isinstance(pair.predicted, Unscored):
                unscored.append(Missing(paper=pair.paper, reason=pair.predicted.reason))
            else:
                scored.append(
                    Scored(paper=pair.paper, human=pair.human, predicted=pair.predicted, problem=pair.problem)
                )  # fmt: skip
        return cls(
            scored=tuple(scored), unscored=tuple(unscored), unmarked=tuple(unmarked), contaminated=tuple(contaminated)
        )  # fmt: skip


def split(pairs: Sequence[Pair], group: str) -> dict[str, list[Pair]]:
    """The pairs by their value of a group ("topic", "level" …), in the order of the values; "" where a pair has none."""
    return _by((pair.groups.get(group, ""), pair) for pair in pairs)


def by_author(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    """The pairs by where the papers come from. Graders do worse on people than on models, so these are never pooled."""
    return _by((pair.author, pair) for pair in pairs)


def _by(named: Iterable[tuple[str, Pair]]) -> dict[str, list[Pair]]:
    parts: dict[str, list[Pair]] = {}
    for name, pair in named:
        parts.setdefault(name, []).append(pair)
    return dict(sorted(parts.items()))
