"""Intervals of any statistic over papers that come in problems: studentised for few problems, from a bootstrap otherwise.

Papers of one problem err together, so problems are the clusters. With few of them the percentile bootstrap is too narrow: of a
nominal 95 % it covers 83 to 92 % at 6 problems of 6 papers (`python -m benchmarks coverage`).
"""

from collections.abc import Callable, Mapping
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from apps.reasoning.domain.values import Value

Floats = npt.NDArray[np.float64]
CONFIDENCE = 0.95
UNDEFINED_DRAWS_AT_MOST = 0.05
#: Of fewer problems nothing is said at all.
CLUSTERS_AT_LEAST = 5
#: From here on the bootstrap draws problems; below, intervals are studentised.
CLUSTERS_TO_DRAW = 50
_SAME = 1e-9
Transform = Callable[[Floats], Floats]
_EDGE = 1 - 1e-6


class Undefined(Value):
    """A statistic or interval that does not exist here, and why."""

    reason: str


class Interval(Value):
    """A 95 % interval, in the statistic's unit."""

    low: float
    high: float

    def overlaps(self, other: "Interval") -> bool:
        return self.low <= other.high and other.low <= self.high


def too_few(clusters: int) -> Undefined | None:
    """Why there is no interval over so few problems; None where there can be one."""
    if clusters < 2:
        return Undefined(reason="there is only one problem or paper to draw from")
    if clusters < CLUSTERS_AT_LEAST:
        return Undefined(reason=f"there are only {clusters} problems to draw from: an interval would be far too narrow")
    return None


def percentile(drawn: Floats) -> Interval | Undefined:
    """The middle 95 % of bootstrap draws, shape (B,), NaN where a draw has no value (Efron and Tibshirani 1993, ch. 13)."""
    if not len(drawn):
        return Undefined(reason="no draws were asked for")
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < (1 - UNDEFINED_DRAWS_AT_MOST) * len(drawn):
        return Undefined(reason=f"it has no value in {len(drawn) - len(defined):,} of {len(drawn):,} draws")
    low, high = np.quantile(defined, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(low=float(low), high=float(high))


def studentised(value: float, without: Floats, kind: str) -> Interval | Undefined:
    """Student's t around `value` with the error of the jackknife over problems and one degree of freedom less than problems.

    `without`, shape (C,): the statistic without each of the C problems, NaN where it has no value then. It is computed on a
    scale that steadies its spread, by `kind`: arcsine root for a "share", logarithm (root, where one is 0) for a "size",
    Fisher's z for a "coefficient"; "plain" has none. Sources: Miller, Biometrika 61 (1974) 1–15, the jackknife; MacKinnon,
    Nielsen and Webb, Journal of Econometrics 232 (2023) 272–299, few clusters.
    """
    if np.isnan(without).any():
        return Undefined(reason=f"it has no value without one of the {len(without)} problems")
    forward, back = _SCALES[_fitting(kind, np.append(without, value))]
    spread = forward(without)
    count = len(spread)
    error = float(np.sqrt((count - 1) / count * ((spread - spread.mean()) ** 2).sum()))
    if error < _SAME:
        return Undefined(reason="it is the same without any one of the problems, so that its spread is unknown")
    middle, reach = float(forward(np.array(value))), student_t(count - 1) * error
    low, high = back(np.array([middle - reach, middle + reach]))
    return Interval(low=float(low), high=float(high))


def normal(chance: float = (1 + CONFIDENCE) / 2) -> float:
    """Quantile of the normal distribution below which `chance` lies."""
    return NormalDist().inv_cdf(chance)


def student_t(freedom: int, chance: float = (1 + CONFIDENCE) / 2) -> float:
    """Quantile of Student's t below which `chance` lies (Abramowitz and Stegun 26.7.5).

    From 4 degrees of freedom on, .975 is within 0.1 %, and up to .999 is within 1 %.
    """
    z, n = normal(chance), freedom
    terms = (
        z**3 + z,
        5 * z**5 + 16 * z**3 + 3 * z,
        3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z,
        79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z,
    )
    return z + sum(term / below for term, below in zip(terms, (4 * n, 96 * n**2, 384 * n**3, 92160 * n**4), strict=True))


def _fitting(kind: str, values: Floats) -> str:
    """AC2 may lie below −1 and a size may be 0: there Fisher's z and the logarithm have no value."""
    if kind == "coefficient" and values.min() <= -1:
        return "plain"
    return "root" if kind == "size" and values.min() <= 0 else kind


def _plain(values: Floats) -> Floats:
    return values


def _arcsine(values: Floats) -> Floats:
    return np.asarray(np.arcsin(np.sqrt(np.clip(values, 0, 1))))


def _share(values: Floats) -> Floats:
    return np.asarray(np.sin(np.clip(values, 0, np.pi / 2)) ** 2)


def _square(values: Floats) -> Floats:
    return np.maximum(values, 0) ** 2


def _fisher(values: Floats) -> Floats:
    return np.asarray(np.arctanh(np.minimum(values, _EDGE)))


_SCALES: Mapping[str, tuple[Transform, Transform]] = {
    "share": (_arcsine, _share),
    "size": (np.log, np.exp),
    "root": (np.sqrt, _square),
    "coefficient": (_fisher, np.tanh),
    "plain": (_plain, _plain),
}
