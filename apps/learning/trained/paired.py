"""Paired comparison of a child and its parent on the same problems: means, and the difference with a bootstrap interval."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from apps.reasoning.agreement.paired import interval_of, portions
from apps.reasoning.agreement.pairs import Scored
from apps.reasoning.agreement.statistics import bias
from apps.reasoning.agreement.table import Sample
from apps.reasoning.statistics.intervals import Interval

DRAWS = 2000
SEED = 0
ALIKE = "Every problem has the same difference, so its random variation cannot be estimated."


@dataclass(frozen=True)
class Paired:
    """Result of a paired comparison.

    `difference` is child minus parent, in the unit of the scores. `low` and `high` bound its 95 % interval over whole problems
    (apps/reasoning/statistics/intervals.py); None where it is undefined. `unscored` problems enter no other figure.
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

    @property
    def verdict(self) -> str:
        """The interval in words."""
        if self.low is None or self.high is None:
            return "One problem is not enough to generalise." if self.problems == 1 else ALIKE
        if self.low > 0:
            return "Better than its parent on problems like these."
        if self.high < 0:
            return "Worse than its parent on problems like these."
        return "With this number of problems, the difference cannot be distinguished from chance."

    def as_json(self) -> dict[str, Any]:
        """Values for the record of a decision."""
        return asdict(self)


def paired(items: Sequence[tuple[str, float | None, float | None]], *, draws: int = DRAWS) -> Paired | None:
    """Compare `(problem, parent's score, child's score)`; None where no problem has both scores."""
    pairs = [
        Scored(paper=problem, human=parent, predicted=child, problem=problem)
        for problem, parent, child in items
        if parent is not None and child is not None
    ]
    if not pairs:
        return None
    sample = Sample.of(pairs)
    differences = np.array([pair.predicted - pair.human for pair in pairs])
    low = high = interval = None
    if sample.clusters > 1:
        others = np.concatenate([np.atleast_1d(bias(table)) for (table,) in portions([sample], draws, SEED)])
        interval = interval_of(float(bias(sample.table)), others, sample.clusters)
    if isinstance(interval, Interval):
        low, high = interval.low, interval.high
    return Paired(
        problems=len(pairs),
        parent=float(np.mean([pair.human for pair in pairs])),
        child=float(np.mean([pair.predicted for pair in pairs])),
        difference=float(bias(sample.table)),
        low=low,
        high=high,
        better=int((differences > 0).sum()),
        equal=int((differences == 0).sum()),
        worse=int((differences < 0).sum()),
        unscored=len(items) - len(pairs),
    )
