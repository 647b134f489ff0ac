"""A child beside its parent on the same problems: both means, and the mean difference with a bootstrap interval."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from apps.reasoning.agreement.estimates import CONFIDENCE
from apps.reasoning.agreement.pairs import Scored
from apps.reasoning.agreement.statistics import bias
from apps.reasoning.agreement.table import Sample

DRAWS = 2000
SEED = 0


@dataclass(frozen=True)
class Paired:
    """`difference` is child less parent, in the unit of the scores; `low` and `high` hold the middle 95 % of bootstrap draws
    of whole problems, None for a single problem. `unscored` problems are in nothing else."""

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
        """What the interval says, without flattery."""
        if self.low is None or self.high is None:
            return "One problem says nothing about others."
        if self.low > 0:
            return "Better than its parent on problems like these."
        if self.high < 0:
            return "Worse than its parent on problems like these."
        return "No difference can be told from chance with so many problems."

    def as_json(self) -> dict[str, Any]:
        """For the record."""
        return asdict(self)


def paired(items: Sequence[tuple[str, float | None, float | None]], *, draws: int = DRAWS) -> Paired | None:
    """Of `(problem, parent's score, child's score)`; None where no problem has both."""
    pairs = [
        Scored(paper=problem, human=parent, predicted=child, problem=problem)
        for problem, parent, child in items
        if parent is not None and child is not None
    ]
    if not pairs:
        return None
    sample = Sample.of(pairs)
    differences = np.array([pair.predicted - pair.human for pair in pairs])
    low = high = None
    if sample.clusters > 1:
        drawn = np.concatenate([np.atleast_1d(bias(table)) for _, table in sample.draws(draws, SEED)])
        low, high = (float(value) for value in np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]))
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
