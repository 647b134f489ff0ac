"""Which difference a planned experiment can show, and how many problems it needs. Differences are of shares, 0..1."""

from math import ceil, sqrt

import numpy as np

from apps.reasoning.domain.values import Value
from apps.reasoning.statistics.intervals import Undefined, normal, student_t, too_few
from apps.reasoning.statistics.scores import Scores, aligned

POWER, LEVEL = 0.8, 0.05
PROBLEMS_AT_MOST = 100_000


class Components(Value):
    """Variances of the paired difference of two methods.

    `between`: of the true difference between problems. `within`: of one repeat's difference inside a problem.
    """

    between: float
    within: float

    def spread(self, repeats: int) -> float:
        """Variance of a problem's difference of means over this many repeats."""
        return self.between + self.within / repeats


def components(left: Scores, right: Scores) -> Components | Undefined:
    """Estimate from the scores of two methods on their common problems (analysis of variance, never below 0).

    Undefined if both sides scored fewer than five common problems, or none of them twice.
    """
    left, right = aligned(left, right)
    scored = (left.scored > 0) & (right.scored > 0)
    if why := too_few(int(scored.sum())):
        return why
    sides = [(table.shares[scored], table.scored[scored]) for table in (left, right)]
    if any((counts < 2).all() for _, counts in sides):
        return Undefined(reason="no problem has two scored repeats")
    differences = np.nanmean(sides[0][0], axis=1) - np.nanmean(sides[1][0], axis=1)
    inside = [float(np.nanvar(cells[counts > 1], axis=1, ddof=1).mean()) for cells, counts in sides]
    noise = sum(one * float((1 / counts).mean()) for one, (_, counts) in zip(inside, sides, strict=True))
    return Components(between=max(0.0, float(differences.var(ddof=1)) - noise), within=sum(inside))


def guessed(rate: float, *, problems_share: float = 0.6, correlation: float = 0.8) -> Components:
    """Components for scores of 0 or 1 with a mean of `rate`.

    `problems_share`: part of the variance that lies between problems. `correlation`: of the two methods' true scores.
    """
    variance = rate * (1 - rate)
    return Components(between=2 * variance * problems_share * (1 - correlation), within=2 * variance * (1 - problems_share))


def few(problems: int) -> str:
    """A number of problems as the subject of a sentence, with its verb."""
    return "1 problem is" if problems == 1 else f"{problems} problems are"


def smallest_detectable(spread: float, problems: int, comparisons: int = 1) -> float | Undefined:
    """Smallest true difference of which "better" is said in 80 % of experiments, for a `spread` as in `Components.spread`.

    It must pass both conditions of `differences`: the interval without 0, and the test at .05 / `comparisons` (the first step
    of Holm). Undefined if so few problems cannot reach that level with any scores.
    """
    if 2.0 ** (1 - problems) > LEVEL / comparisons:
        many = f" of {comparisons} comparisons" if comparisons > 1 else ""
        return Undefined(reason=f"{few(problems)} too few for a test{many} at 5 %")
    error = sqrt(spread / problems)
    by_interval = normal() * sqrt(problems * spread + 1) / problems
    by_test = student_t(problems - 1, 1 - LEVEL / comparisons / 2) * error
    return max(by_interval, by_test) + student_t(problems - 1, POWER) * error


def problems_needed(spread: float, difference: float, comparisons: int = 1) -> int | Undefined:
    """The fewest problems whose smallest detectable difference is at most `difference`, which is above 0."""

    def suffices(problems: int) -> bool:
        smallest = smallest_detectable(spread, problems, comparisons)
        return not isinstance(smallest, Undefined) and smallest <= difference

    if difference <= 0 or not suffices(PROBLEMS_AT_MOST):
        return Undefined(reason=f"more than {PROBLEMS_AT_MOST:,} problems would be needed")
    low, high = 1, PROBLEMS_AT_MOST
    while high - low > 1:
        middle = ceil((low + high) / 2)
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high
