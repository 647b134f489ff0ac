"""Closeness, order and size of errors. Each function takes a `Table` and gives one number per draw, NaN where it has none.

d = predicted − human. Outside this package NaN is never seen: `estimates` turns it into `Undefined` with the reason.
"""

from collections.abc import Callable

import numpy as np

from apps.reasoning.agreement.scales import CLOSE
from apps.reasoning.agreement.table import Table
from apps.reasoning.statistics.intervals import Floats

VARIES = 1e-12  # a variance below this is that of a constant


def pearson(table: Table) -> Floats:
    """Pearson's r: linear association. No value where either side is constant.

    Source: K. Pearson, Proc. R. Soc. Lond. 58 (1895) 240–242.
    """
    return _correlation(table, table.human - table.human.mean(), table.predicted - table.predicted.mean())


def spearman(table: Table) -> Floats:
    """Spearman's ρ: Pearson's r of the ranks, equal points sharing their middle rank.

    Source: C. Spearman, Am. J. Psychol. 15 (1904) 72–101; ties by mid-ranks as M. G. Kendall, Biometrika 33 (1945) 239–251.
    """
    return _correlation(table, _ranks(table, table.human), _ranks(table, table.predicted))


def mae(table: Table) -> Floats:
    """Mean absolute error, in points: mean of |d|."""
    return table.mean(np.abs(_differences(table)))


def rmse(table: Table) -> Floats:
    """Root mean squared error, in points: √ mean of d². Large errors weigh more than in the MAE."""
    return np.sqrt(table.mean(_differences(table) ** 2))


def bias(table: Table) -> Floats:
    """Mean of d, in points. Above 0: more generous than the person."""
    return table.mean(_differences(table))


def spread_ratio(table: Table) -> Floats:
    """Standard deviation of the predictions over that of the marks. Below 1: extremes are avoided. None for constant marks."""
    human = _variance(table, table.human)
    ratio = _variance(table, table.predicted) / _positive(human)
    return np.sqrt(ratio)


def exact(table: Table) -> Floats:
    """Share of pairs with the same points; nothing is rounded."""
    return table.mean((np.abs(_differences(table)) < CLOSE).astype(np.float64))


def off_by_one(table: Table) -> Floats:
    """Share of pairs with |d| ≤ 1. Source: RefGrader, §4."""
    return _within(table, 1)


def off_by_two(table: Table) -> Floats:
    """Share of pairs with |d| ≤ 2. Source: RefGrader, §4."""
    return _within(table, 2)


def _within(table: Table, points: float) -> Floats:
    return table.mean((np.abs(_differences(table)) <= points + CLOSE).astype(np.float64))


def _differences(table: Table) -> Floats:
    return table.predicted - table.human


def _variance(table: Table, values: Floats) -> Floats:
    centred = values - values.mean()
    return np.maximum(table.mean(centred**2) - table.mean(centred) ** 2, 0)


def _positive(variance: Floats) -> Floats:
    return np.where(variance > VARIES, variance, np.nan)


def _correlation(table: Table, left: Floats, right: Floats) -> Floats:
    left_mean, right_mean = table.mean(left), table.mean(right)
    covariance = table.mean(left * right) - left_mean * right_mean
    left_variance = _positive(table.mean(left**2) - left_mean**2)
    right_variance = _positive(table.mean(right**2) - right_mean**2)
    return np.clip(covariance / np.sqrt(left_variance * right_variance), -1, 1)


def _ranks(table: Table, values: Floats) -> Floats:
    """The middle rank of each cell's value over the number of pairs, shape of `counts`; shifted so that it centres on 0."""
    order = np.argsort(values, kind="stable")
    begins = np.append(True, np.diff(values[order]) > 0)
    counts = np.add.reduceat(table.counts[..., order], np.flatnonzero(begins), axis=-1)
    middles = (np.cumsum(counts, axis=-1) - counts / 2) / table.total[..., None] - 0.5
    group = np.empty(len(values), np.intp)
    group[order] = np.cumsum(begins) - 1
    return np.asarray(middles[..., group])


#: All that need no categories.
Plain = Callable[[Table], Floats]
