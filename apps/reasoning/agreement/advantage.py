"""The advantage error: how well a grader distinguishes solutions of the same problem, regardless of its leniency."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from apps.reasoning.agreement.pairs import Scored
from apps.reasoning.statistics.intervals import Floats


@dataclass(frozen=True, slots=True)
class AdvantageSums:
    """Per problem, in the order of their names: the sum of |A' − A| and the number of pairs, shape (clusters,).

    Within a problem, A is the points less their mean. A problem with one pair says nothing, its advantages are 0 by definition:
    it counts with 0 pairs, so that it does not flatter. So does a pair without a problem, which is a cluster at the end.
    """

    errors: Floats
    pairs: Floats

    @classmethod
    def of(cls, pairs: Sequence[Scored], clusters: int) -> Self:
        """The sums of at least one pair that names its problem, for as many clusters as the sample has."""
        pairs = sorted(
            (pair for pair in pairs if pair.problem), key=lambda pair: (pair.problem, pair.human, pair.predicted)
        )  # sums do not see a file's order
        problems = np.unique([pair.problem for pair in pairs], return_inverse=True)[1]
        size = np.bincount(problems)
        difference = np.array([pair.predicted - pair.human for pair in pairs])
        mean = np.bincount(problems, difference) / size
        errors = np.bincount(problems, np.abs(difference - mean[problems])).astype(np.float64)
        rest = (0, clusters - len(size))
        return cls(np.pad(errors, rest), np.pad(np.where(size > 1, size, 0).astype(np.float64), rest))

    def error(self, weights: Floats) -> Floats:
        """The mean of |A' − A| over pairs, in points, where each problem counts `weights` times, shape (…, problems).

        NaN where no problem has two pairs. Source: QED-Nano, App. A ("problem-normalized advantage").
        """
        counted = np.einsum("...c,c->...", weights, self.pairs)
        errors = np.einsum("...c,c->...", weights, self.errors)
        return np.asarray(errors / np.where(counted > 0, counted, np.nan))
