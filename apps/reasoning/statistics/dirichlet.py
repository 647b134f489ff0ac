"""Posterior of the mean score for graded categories, such as 0 to 7 points, with a Dirichlet prior for each problem.

Source: Hariri et al., Don't Pass@k: A Bayesian Framework for Large Language Model Evaluation, arXiv 2510.04265 (2025).
"""

import numpy as np

from apps.reasoning.domain.values import Value
from apps.reasoning.statistics.intervals import Interval, Undefined, normal
from apps.reasoning.statistics.metrics import short
from apps.reasoning.statistics.scores import CLOSE, Scores


class Posterior(Value):
    """Of the mean share of points on exactly these problems: mean, standard deviation, and the middle 95 % as if normal."""

    mean: float
    deviation: float
    interval: Interval


def posterior(scores: Scores, *, categories: int = 8, prior: float = 1) -> Posterior | Undefined:
    """Closed form. `categories` are equally spaced from 0 to the total; `prior` repeats are added to each category.

    A prior of 1 is uniform, as in the source, and draws the mean towards one half; smaller ones draw less. It says
    nothing about other problems like these. Undefined if a problem has no scored repeat. Raises `ValueError` for a cell between
    categories or a prior that is not above 0.
    """
    if prior <= 0 or categories < 2:
        raise ValueError("a Dirichlet prior is above 0 and has at least two categories")
    steps = scores.shares * (categories - 1)
    if (abs(steps - np.round(steps)) > CLOSE * categories).any():
        raise ValueError(f"a cell lies between the {categories} categories")
    if why := short(scores.scored, 1):
        return why
    shares = np.arange(categories) / (categories - 1)
    counts = (np.round(steps)[:, :, None] == np.arange(categories)).sum(axis=1) + prior
    totals = counts.sum(axis=1)
    means = counts @ shares / totals
    variances = (counts @ shares**2 / totals - means**2) / (totals + 1)
    mean, deviation = float(means.mean()), float(np.sqrt(variances.sum())) / len(means)
    reach = normal() * deviation
    return Posterior(mean=mean, deviation=deviation, interval=Interval(low=max(0.0, mean - reach), high=min(1.0, mean + reach)))
