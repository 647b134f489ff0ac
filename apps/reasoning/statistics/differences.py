"""Paired differences of two methods by problem: interval, test, wins, and the sentence that may be said."""

from collections.abc import Iterator, Sequence
from math import ceil

import numpy as np

from apps.reasoning.domain.values import Value
from apps.reasoning.statistics.intervals import Floats, Interval, Undefined, normal, studentised, too_few
from apps.reasoning.statistics.metrics import Measure
from apps.reasoning.statistics.power import LEVEL, smallest_detectable
from apps.reasoning.statistics.scores import CLOSE

FLIPS = 20_000
#: Up to this number of problems that differ, all flips are counted.
EXACT_AT_MOST = 14
NUMBERS_AT_ONCE = 4_000_000
_NO_SCALE = Undefined(reason="the detectable difference of amounts is not known")


class Difference(Value):
    """Left less right on their common problems, with a 95 % interval and a two-sided p-value, before any correction.

    `wins`, `ties` and `losses` count problems for the left. `detectable`: the smallest difference that this many problems with
    this spread show in 80 % of experiments.
    """

    value: float
    interval: Interval | Undefined
    p_value: float
    wins: int
    ties: int
    losses: int
    detectable: float | Undefined

    @property
    def problems(self) -> int:
        return self.wins + self.ties + self.losses

    def is_decisive(self, adjusted: float | None = None) -> bool:
        """Whether one side may be called better: p ≤ .05, after Holm where `adjusted` is given, and no 0 in the interval."""
        p_value = self.p_value if adjusted is None else adjusted
        return p_value <= LEVEL and isinstance(self.interval, Interval) and not self.interval.low <= 0 <= self.interval.high


def difference(
    left: Measure, right: Measure, *, comparisons: int = 1, flips: int = FLIPS, seed: int = 0
) -> Difference | Undefined:
    """Compare two measures of one metric on the problems that count in both.

    The interval of shares is an adjusted Wald interval: half a problem won by 1 and half a problem lost by 1 are added, so that
    rare differences that no problem has shown yet are not excluded (Agresti and Min, Statistics in Medicine 24 (2005) 729–740,
    with less weight). Amounts are studentised. The test flips the sides of whole problems. `comparisons` is the size of the
    family that Holm corrects; it raises `detectable` only. Raises `ValueError` for a share and an amount.
    """
    if left.is_share != right.is_share:
        raise ValueError("a share and an amount have no difference")
    theirs = {name: row for row, name in enumerate(right.problems) if right.weights[row] > 0}
    rows = [row for row, name in enumerate(left.problems) if name in theirs and left.weights[row] > 0]
    if not rows:
        return Undefined(reason="the two methods have no common problems")
    others = [theirs[left.problems[row]] for row in rows]
    values = np.array([left.values[rows], right.values[others]])
    weights = np.array([left.weights[rows], right.weights[others]])
    means = (weights * values).sum(axis=1) / weights.sum(axis=1)
    parts = len(rows) * weights / weights.sum(axis=1, keepdims=True) * (values - means[:, None])
    by_problem = parts[0] - parts[1] + means[0] - means[1]
    apart = values[0] - values[1]
    spread = float(by_problem.var(ddof=1)) if len(rows) > 1 else 0.0
    return Difference(
        value=float(means[0] - means[1]),
        interval=too_few(len(rows)) or _interval(by_problem, left.is_share),
        p_value=_p_value(weights * values, weights, flips, seed),
        wins=int((apart > CLOSE).sum()),
        ties=int((abs(apart) <= CLOSE).sum()),
        losses=int((apart < -CLOSE).sum()),
        detectable=smallest_detectable(spread, len(rows), comparisons) if left.is_share else _NO_SCALE,
    )


def _interval(by_problem: Floats, is_share: bool) -> Interval | Undefined:
    count, total = len(by_problem), float(by_problem.sum())
    if not is_share:
        return studentised(total / count, (total - by_problem) / (count - 1), "plain")
    middle = total / (count + 1)
    variance = (float(by_problem @ by_problem) + 1) / (count + 1) - middle**2
    reach = normal() * float(np.sqrt(variance / (count + 1)))
    return Interval(low=max(-1.0, middle - reach), high=min(1.0, middle + reach))


def _p_value(sums: Floats, weights: Floats, flips: int, seed: int) -> float:
    """Two-sided p-value of a permutation test that swaps the two sides of problems, exact for few that differ.

    `sums` and `weights`, shape (2, P). Sampled flips include the observed one (Phipson and Smyth, Statistical Applications in
    Genetics and Molecular Biology 9 (2010) 39).
    """
    differ = (abs(np.diff(sums, axis=0)) > CLOSE).any(axis=0) | (abs(np.diff(weights, axis=0)) > CLOSE).any(axis=0)
    count = int(differ.sum())
    if not count:
        return 1.0
    swaps = np.array([sums[1] - sums[0], weights[1] - weights[0]])[:, differ]
    plain = np.array([sums.sum(axis=1), weights.sum(axis=1)])
    observed = abs(plain[0, 0] / plain[1, 0] - plain[0, 1] / plain[1, 1])
    reached = done = 0
    for flipped in _flips(count, flips, seed):
        moved = flipped @ swaps.T
        apart = (plain[0, 0] + moved[:, 0]) / (plain[1, 0] + moved[:, 1])
        apart -= (plain[0, 1] - moved[:, 0]) / (plain[1, 1] - moved[:, 1])
        reached += int((abs(apart) >= observed - CLOSE).sum())
        done += len(flipped)
    return reached / done if count <= EXACT_AT_MOST else (reached + 1) / (done + 1)


def _flips(count: int, flips: int, seed: int) -> Iterator[Floats]:
    """Which problems swap their sides, as rows of 0 and 1: all ways for few problems, else seeded ones, in portions."""
    if count <= EXACT_AT_MOST:
        yield (np.arange(2**count)[:, None] >> np.arange(count) & 1).astype(np.float64)
        return
    generator = np.random.default_rng(seed)
    portion = max(1, NUMBERS_AT_ONCE // count)
    for first in range(0, flips, portion):
        yield generator.integers(0, 2, (min(portion, flips - first), count), np.int8).astype(np.float64)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values of a family, in its order (Holm, Scandinavian Journal of Statistics 6 (1979) 65–70)."""
    adjusted, highest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda one: p_values[one])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = highest
    return tuple(adjusted)


def sentence(
    found: Difference | Undefined,
    left: str,
    right: str,
    *,
    adjusted: float | None = None,
    scale: float = 100,
    unit: str = "points",
) -> str:
    """What may be said of two methods by a metric where more is better: by how much, or what the problems could have shown.

    `adjusted`: the p-value after Holm. `scale`: units of a difference of 1; 100 gives percentage points, 35 points of 35.
    """
    if isinstance(found, Undefined):
        return f"Not decisive: {found.reason}."
    if found.is_decisive(adjusted) and isinstance(found.interval, Interval):
        sign, name = (1, left) if found.value > 0 else (-1, right)
        ends = sorted(sign * end * scale for end in (found.interval.low, found.interval.high))
        return f"{name} is better by {sign * found.value * scale:.1f} {unit} ({ends[0]:.1f} to {ends[1]:.1f})."
    if isinstance(found.detectable, Undefined):
        return f"Not decisive: {found.detectable.reason}."
    return f"Not decisive: {found.problems} problems can show differences from {ceil(found.detectable * scale)} {unit}."
