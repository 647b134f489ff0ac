"""Metrics of one method, each as a measure by problem, so that every metric has intervals and paired differences alike."""

from dataclasses import dataclass
from math import comb

import numpy as np

from apps.reasoning.statistics.intervals import Floats, Undefined
from apps.reasoning.statistics.scores import CLOSE, Integers, Scores


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """A metric by problem; overall it is the weighted mean. All arrays have shape (P,).

    A problem of weight 0 does not count. `trials` is the number of independent values behind each: 4 scored repeats are 4 for
    a mean and 1 for pass@4. `is_share`: values lie in 0..1; otherwise they are amounts from 0 upwards.
    """

    problems: tuple[str, ...]
    values: Floats
    weights: Floats
    trials: Floats
    is_share: bool = True

    @property
    def value(self) -> float:
        return float(self.weights @ self.values / self.weights.sum())


def average(scores: Scores, k: int = 1) -> Measure | Undefined:
    """Avg@k: mean over problems of the mean over scored repeats, as a share of the total; of amounts, as they are.

    Undefined if a problem has fewer than `k` scored repeats.
    """
    return short(scores.scored, k) or _means(scores, scores.shares)


def share_of_points(scores: Scores) -> Measure | Undefined:
    """Mean points over all problems divided by the sum of their totals: 91 of 126. Raises `ValueError` for amounts."""
    if scores.totals is None:
        raise ValueError("amounts have no total")
    return short(scores.scored, 1) or _means(scores, scores.shares, scores.totals)


def share_reaching(scores: Scores, share: float = 1) -> Measure | Undefined:
    """Share of repeats with at least this share of the total: solved, or accepted where cells are acceptances."""
    return short(scores.scored, 1) or _means(scores, _reaching(scores, share))


def pass_at_k(scores: Scores, k: int, share: float = 1) -> Measure | Undefined:
    """Chance that at least one of `k` repeats is solved, unbiased: 1 − C(n − c, k) / C(n, k) with c of n scored ones solved.

    Solved is at least `share` of the total. Undefined if a problem has fewer than `k` scored repeats. Source: Chen et al.,
    Evaluating Large Language Models Trained on Code, arXiv 2107.03374 (2021), equation 1.
    """
    counts = scores.scored
    if why := short(counts, k):
        return why
    solved = np.nansum(_reaching(scores, share), axis=1).astype(int)
    values = [1 - comb(int(n - c), k) / comb(int(n), k) for n, c in zip(counts, solved, strict=True)]
    return of_problems(scores.problems, np.array(values), counts // k)


def false_accept_rate(accepted: Scores, truth: Scores) -> Measure | Undefined:
    """Share accepted among the repeats that are known to be wrong, over all problems together.

    Both tables have 0 or 1 on the same problems and repeats; NaN in `truth` is unknown. Raises `ValueError` otherwise.
    """
    if accepted.problems != truth.problems or accepted.cells.shape != truth.cells.shape:
        raise ValueError("acceptances and truth need the same problems and repeats")
    wrong = (truth.shares < 1 - CLOSE) & ~np.isnan(accepted.cells)
    counts = wrong.sum(axis=1).astype(np.float64)
    if not counts.any():
        return Undefined(reason="no repeat with a decision is known to be wrong")
    taken = (wrong & (accepted.shares >= 1 - CLOSE)).sum(axis=1)
    return Measure(accepted.problems, taken / np.maximum(counts, 1), counts, np.maximum(counts, 1))


def short(counts: Integers, k: int) -> Undefined | None:
    """Why there is no metric of `k` repeats with these numbers of scored ones, shape (P,). Raises `ValueError` below 1."""
    if k < 1:
        raise ValueError("a metric needs at least one repeat")
    if not len(counts):
        return Undefined(reason="there are no problems")
    lacking = int((counts < k).sum())
    one = "1 scored repeat" if k == 1 else f"{k} scored repeats"
    verb = "has" if lacking == 1 else "have"
    return Undefined(reason=f"{lacking} of {len(counts)} problems {verb} fewer than {one}") if lacking else None


def of_problems(problems: tuple[str, ...], values: Floats, trials: Integers) -> Measure:
    """A measure in which all problems weigh the same."""
    return Measure(problems, values, np.ones(len(values)), trials.astype(np.float64))


def _reaching(scores: Scores, share: float) -> Floats:
    return np.where(np.isnan(scores.cells), np.nan, scores.shares >= share - CLOSE)


def _means(scores: Scores, cells: Floats, weights: Floats | None = None) -> Measure:
    heavy = np.ones(len(cells)) if weights is None else weights
    return Measure(
        scores.problems, np.nanmean(cells, axis=1), heavy, scores.scored.astype(np.float64), scores.totals is not None
    )
