"""Pairs of points as a table with counts, so that a statistic over thousands of bootstrap draws is one pass."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from apps.reasoning.agreement.pairs import Scored
from apps.reasoning.statistics.intervals import Floats

Integers = npt.NDArray[np.intp]
NUMBERS_AT_ONCE = 500_000  # of pairs times draws: 4 MB an array


@dataclass(frozen=True, slots=True)
class Table:
    """`counts[…, d]` times a person gave `human[d]` where the other gave `predicted[d]`.

    `human`, `predicted`: shape (D,). `counts`: shape (…, D), one row per bootstrap draw, or just (D,). Every row counts at
    least one pair.
    """

    human: Floats
    predicted: Floats
    counts: Floats

    @classmethod
    def of(cls, human: Sequence[float], predicted: Sequence[float]) -> Self:
        """The table of two equally long, non-empty lists of points."""
        both = np.column_stack([np.asarray(human, np.float64), np.asarray(predicted, np.float64)])
        cells, counts = np.unique(both, axis=0, return_counts=True)
        return cls(cells[:, 0], cells[:, 1], counts.astype(np.float64))

    @property
    def total(self) -> Floats:
        return np.asarray(self.counts.sum(-1))

    def mean(self, values: Floats) -> Floats:
        """Mean over the pairs of values per cell, shape (D,) or that of `counts`."""
        # einsum, not @: BLAS would start threads that spin where the processor is busy, which costs far more than it brings.
        return np.asarray(np.einsum("...d,...d->...", self.counts, values) / self.total)

    def marginal(self, categories: Integers, size: int) -> Floats:
        """Share of pairs in each category, shape (…, size); `categories` names the category of each cell, shape (D,)."""
        member = np.zeros((len(categories), size))
        member[np.arange(len(categories)), categories] = 1
        return np.asarray(np.einsum("...d,dk->...k", self.counts, member) / self.total[..., None])


@dataclass(frozen=True, slots=True)
class Sample:
    """Scored pairs with their problems, ready to be drawn from.

    Pairs are in the order of their cells and clusters in that of their problems' names, so that the order of a file
    changes nothing.
    """

    table: Table
    clusters: int
    _cluster_of: Integers  # per pair
    _cell_starts: Integers  # where each cell begins among the pairs

    @classmethod
    def of(cls, pairs: Sequence[Scored]) -> Self:
        """Group pairs by problem; a pair without a problem is a group of its own, after all others."""
        human = np.array([pair.human for pair in pairs])
        predicted = np.array([pair.predicted for pair in pairs])
        problems = np.unique([pair.problem for pair in pairs], return_inverse=True)[1]
        order = np.lexsort((problems, predicted, human))
        human, predicted, problems = human[order], predicted[order], problems[order]
        alone = np.array([not pair.problem for pair in pairs])[order]
        problems[alone] = len(pairs) + np.arange(alone.sum())
        problems = np.unique(problems, return_inverse=True)[1]
        begins = np.ones(len(pairs), bool)
        begins[1:] = (human[1:] != human[:-1]) | (predicted[1:] != predicted[:-1])
        starts = np.flatnonzero(begins)
        counts = np.diff(np.append(starts, len(pairs))).astype(np.float64)
        table = Table(human[starts], predicted[starts], counts)
        return cls(table, int(problems.max()) + 1, problems, starts)

    def draws(self, count: int, seed: int) -> Iterator[tuple[Floats, Table]]:
        """`count` bootstrap draws in portions: how often each cluster was drawn, shape (B, clusters), and their tables.

        Clusters are drawn with replacement, as many as there are (Davison and Hinkley 1997, §3.8: the cluster bootstrap).
        """
        generator = np.random.default_rng(seed)
        portion = max(1, NUMBERS_AT_ONCE // max(len(self._cluster_of), self.clusters))
        for first in range(0, count, portion):
            drawn = generator.integers(0, self.clusters, (min(portion, count - first), self.clusters))
            yield self._weighed(np.array([np.bincount(row, minlength=self.clusters) for row in drawn], np.float64))

    def without_each(self) -> tuple[Floats, Table]:
        """Weights, shape (clusters, clusters), and tables of the sample without each cluster in turn; at least two clusters."""
        return self._weighed(1 - np.eye(self.clusters))

    def _weighed(self, weights: Floats) -> tuple[Floats, Table]:
        counts = np.add.reduceat(weights[:, self._cluster_of], self._cell_starts, axis=1)
        return weights, Table(self.table.human, self.table.predicted, counts)
