"""Paired comparison of a child and its parent on the same problems: means, and the difference with its interval."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from apps.learning.models import Comparison
from apps.reasoning.statistics.differences import Difference, difference
from apps.reasoning.statistics.intervals import CLUSTERS_AT_LEAST, Interval
from apps.reasoning.statistics.metrics import Measure, average
from apps.reasoning.statistics.scores import Scores

FEW = "These are too few problems to generalise."
ALIKE = "Every problem has the same difference, so its random variation cannot be estimated."


@dataclass(frozen=True)
class Paired:
    """Result of a paired comparison.

    `difference` is child minus parent, in the unit of the scores. `low` and `high` bound its 95 % interval over whole problems
    (apps/reasoning/statistics/intervals.py); None where it is undefined. `is_decisive`: whether one may be called better
    (apps/reasoning/statistics/differences.py). `unscored` problems enter no other figure.
    """

    problems: int
    parent: float
    child: float
    difference: float
    low: float | None
    high: float | None
    better: int
    equal: int
    worse: int
    unscored: int
    is_decisive: bool

    @property
    def verdict(self) -> str:
        """What may be said of the child and its parent."""
        if self.low is None or self.high is None:
            return FEW if self.problems < CLUSTERS_AT_LEAST else ALIKE
        if not self.is_decisive:
            return "With this number of problems, the difference cannot be distinguished from chance."
        return f"{'Better' if self.difference > 0 else 'Worse'} than its parent on problems like these."

    def as_json(self) -> dict[str, Any]:
        """Values for the record of a decision."""
        return asdict(self)


def paired(items: Sequence[tuple[str, float | None, float | None]]) -> Paired | None:
    """Compare `(problem, parent's score, child's score)`; None where no problem has both scores."""
    both = [(problem, parent, child) for problem, parent, child in items if parent is not None and child is not None]
    if not both:
        return None
    values = np.array([pair[1:] for pair in both], np.float64)
    total = 1.0 if values.max() <= 1 else None  # Shares of a full score, or points.
    names = [str(number) for number in range(len(both))]
    parent, child = (average(Scores.of(names, values[:, [column]], total=total)) for column in (0, 1))
    assert isinstance(parent, Measure)
    assert isinstance(child, Measure)
    found = difference(child, parent)
    assert isinstance(found, Difference)
    interval = found.interval if isinstance(found.interval, Interval) else None
    return Paired(
        problems=len(both),
        parent=parent.value,
        child=child.value,
        difference=found.value,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        better=found.wins,
        equal=found.ties,
        worse=found.losses,
        unscored=len(items) - len(both),
        is_decisive=found.is_decisive(),
    )


def result_of(one: Comparison) -> Paired | None:
    """Means and difference of a comparison; None before its end, or where no problem has two scores."""
    return paired([(str(title), parent, child) for title, parent, child in one.items]) if one.items else None
