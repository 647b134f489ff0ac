"""Agreement beyond chance, with quadratic weights: QWK, Gwet's AC2, and Scott's π under its own name.

All three compare the observed disagreement D_o = mean of (i − j)² with what chance would bring; they differ in their chance.
For quadratic weights the sums over the K × K table are means of the points, so no table is needed: with marks x and
predictions y, Σ (i − j)² p_i q_j = E x² + E y² − 2 E x · E y. Points are rounded onto the scale's categories first.
"""

import numpy as np

from apps.reasoning.agreement.scales import Scale
from apps.reasoning.agreement.statistics import VARIES
from apps.reasoning.agreement.table import Table
from apps.reasoning.statistics.intervals import Floats


def quadratic_weights(size: int) -> Floats:
    """Agreement weights w_kl = 1 − (k − l)² / (K − 1)², shape (K, K). K is at least 2."""
    index = np.arange(size)
    return np.asarray(1 - (index[:, None] - index) ** 2 / (size - 1) ** 2)


def qwk(table: Table, scale: Scale) -> Floats:
    """Quadratic weighted kappa: chance draws each side from its own marginal. No value where both sides are one same constant.

    Falls with skewed marginals although people agree. Source: J. Cohen, Psychol. Bull. 70 (1968) 213–220; RefGrader, §4.
    """
    human, predicted = scale.rounded(table.human), scale.rounded(table.predicted)
    chance = table.mean(human**2 + predicted**2) - 2 * table.mean(human) * table.mean(predicted)
    return _beyond(table.mean((human - predicted) ** 2), chance)


def scott_pi_weighted(table: Table, scale: Scale) -> Floats:
    """Scott's π with quadratic weights: chance draws both sides from the pooled marginal (p + q) / 2.

    This is what RefGrader, §4, prints as the formula of "AC2". It never exceeds QWK: its chance of disagreement is smaller by
    (E x − E y)² / 2 and the observed one is the same. Source: W. A. Scott, Public Opin. Q. 19 (1955) 321–325.
    """
    human, predicted = scale.rounded(table.human), scale.rounded(table.predicted)
    middle = (table.mean(human) + table.mean(predicted)) / 2
    chance = table.mean(human**2 + predicted**2) - 2 * middle**2
    return _beyond(table.mean((human - predicted) ** 2), chance)


def ac2(table: Table, scale: Scale) -> Floats:
    """Gwet's AC2 with quadratic weights: (p_a − p_e) / (1 − p_e), p_e = Σ w_kl / (K (K − 1)) · Σ π_k (1 − π_k).

    π is the pooled marginal, K the number of categories of the scale, used or not. It withstands skew and flatters where
    markers disagree on skewed data. It always has a value. This is what RefGrader's tables hold.
    Source: K. L. Gwet, Handbook of Inter-Rater Reliability, 4th ed. 2014.
    """
    size = scale.size
    human, predicted = scale.index(table.human), scale.index(table.predicted)
    pooled = (table.marginal(human, size) + table.marginal(predicted, size)) / 2
    weights = quadratic_weights(size)
    by_chance = weights.sum() / (size * (size - 1)) * (pooled * (1 - pooled)).sum(-1)
    agreed = table.mean(weights[human, predicted])
    return np.asarray((agreed - by_chance) / (1 - by_chance))


def _beyond(observed: Floats, chance: Floats) -> Floats:
    return np.asarray(1 - observed / np.where(chance > VARIES, chance, np.nan))
