"""A method's mean score corrected by people: a grader scored all cells, people marked a random sample of them.

Source: Angelopoulos, Duchi and Zrnic, PPI++: Efficient Prediction-Powered Inference, arXiv 2311.01453 (2023). Our errors are
computed from whole problems.
"""

import numpy as np
import numpy.typing as npt

from apps.reasoning.domain.values import Value
from apps.reasoning.statistics.intervals import Floats, Interval, Undefined
from apps.reasoning.statistics.means import agresti_coull, unseen
from apps.reasoning.statistics.scores import Scores

#: With marks on fewer problems the grader's bias is not known well enough.
MARKED_PROBLEMS_AT_LEAST = 10
_SAME = 1e-12


class Corrected(Value):
    """Mean share of points without the grader's bias, its standard error and 95 % interval, and the grader's own mean.

    `tuning`: λ in 0..1, how far the grader is used; 0 leaves the mean of the marks alone. `marked` counts cells.
    """

    value: float
    raw: float
    error: float
    interval: Interval
    tuning: float
    marked: int


def corrected_mean(graded: Scores, marks: Scores, *, tuning: float | None = None) -> Corrected | Undefined:
    """λ · mean of the unmarked grades + mean of (mark − λ · grade) over the marked cells.

    Both tables are on the same problems and repeats; marks are NaN where no person marked. Marks without a grade do not count.
    Unless given, λ minimises the error, which is computed from whole problems. The interval is Agresti and Coull's with as many
    trials as give the error and that of one more marked problem, on which the grader is wrong by half. Undefined if too few
    problems are marked or nothing is unmarked. Raises `ValueError` for other problems.
    """
    if graded.problems != marks.problems or graded.cells.shape != marks.cells.shape:
        raise ValueError("grades and marks need the same problems and repeats")
    marked = ~np.isnan(graded.cells) & ~np.isnan(marks.cells)
    unmarked = ~np.isnan(graded.cells) & np.isnan(marks.cells)
    problems = int(marked.any(axis=1).sum())
    if problems < MARKED_PROBLEMS_AT_LEAST:
        return Undefined(reason=f"{problems} problems have a mark; {MARKED_PROBLEMS_AT_LEAST} are needed")
    if not unmarked.any():
        return Undefined(reason="all grades have a mark, so that nothing is left to predict")
    of_marks = _by_problem(marks.shares, marked)
    of_grades = _by_problem(graded.shares, marked) - _by_problem(graded.shares, unmarked)
    if tuning is None:
        square = float(of_grades @ of_grades)
        tuning = float(np.clip(of_marks @ of_grades / square, 0, 1)) if square > _SAME else 0.0
    error = float(np.sqrt(problems / (problems - 1) * ((of_marks - tuning * of_grades) ** 2).sum()))
    predicted = tuning * (graded.shares[unmarked].mean() - graded.shares[marked].mean())
    value = float(np.clip(marks.shares[marked].mean() + predicted, 0, 1))
    trials = max(1.0, value * (1 - value) / (error**2 + unseen(problems)))
    return Corrected(
        value=value,
        raw=float(np.nanmean(graded.shares)),
        error=error,
        interval=agresti_coull(value, trials, problems - 1),
        tuning=tuning,
        marked=int(marked.sum()),
    )


def _by_problem(shares: Floats, chosen: npt.NDArray[np.bool_]) -> Floats:
    """What each problem adds to the deviation of the mean over the chosen cells, shape (P,)."""
    return np.asarray(np.where(chosen, shares - shares[chosen].mean(), 0).sum(axis=1) / chosen.sum())
