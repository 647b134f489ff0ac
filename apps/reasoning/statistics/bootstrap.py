"""Bootstrap of any statistic of a table: bands of curves, medians, fronts. `means` has better intervals for means."""

from collections.abc import Callable

import numpy as np

from apps.reasoning.statistics.intervals import Floats, Interval, Undefined, percentile
from apps.reasoning.statistics.scores import Scores

DRAWS = 4_000
#: Below this number of problems percentiles of draws are too narrow, so that none are given.
PROBLEMS_AT_LEAST = 20


def resampled(scores: Scores, *, draws: int = DRAWS, seed: int = 0, repeats: bool = True) -> Floats:
    """Tables of shares, shape (draws, P, R), with problems drawn with replacement, and then repeats inside each.

    Without `repeats` all repeats of a drawn problem are kept in their order, as statistics that count distinct repeats need:
    a repeated success is no second success (Davison and Hinkley 1997, §3.8). The same seed draws the same problems.
    """
    generator = np.random.default_rng(seed)
    problems, size = scores.cells.shape
    rows = generator.integers(0, problems, (draws, problems))
    if not repeats:
        return np.asarray(scores.shares[rows])
    columns = generator.integers(0, size, (draws, problems, size), np.int32)
    return np.asarray(scores.shares.ravel()[(rows * size)[:, :, None] + columns])


def bootstrap(
    scores: Scores, statistic: Callable[[Floats], Floats], *, draws: int = DRAWS, seed: int = 0, repeats: bool = True
) -> Interval | Undefined:
    """Percentile interval of `statistic`, which maps tables (B, P, R) to values (B,), NaN where a draw has none."""
    if len(scores.problems) < PROBLEMS_AT_LEAST:
        return Undefined(reason=f"draws of {len(scores.problems)} problems are too narrow; {PROBLEMS_AT_LEAST} are needed")
    return percentile(statistic(resampled(scores, draws=draws, seed=seed, repeats=repeats)))
