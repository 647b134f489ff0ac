"""The statistics by name, each with its interval or the reason why it has no value."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from apps.reasoning.agreement import chance, statistics
from apps.reasoning.agreement.advantage import AdvantageSums
from apps.reasoning.agreement.pairs import Scored
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.agreement.statistics import Plain
from apps.reasoning.agreement.table import Sample, Table
from apps.reasoning.domain.values import Value
from apps.reasoning.statistics.intervals import CLUSTERS_TO_DRAW, Floats, Interval, Undefined, percentile, studentised, too_few

OnScale = Callable[[Table, Scale], Floats]


class Best(StrEnum):
    """Which way a statistic is better."""

    HIGH = "high"
    LOW = "low"
    ZERO = "zero"
    ONE = "one"


@dataclass(frozen=True, slots=True)
class Statistic:
    """`slug` is its stable name, `unit` "points", "share" or "" for a coefficient. `of` computes it from a table; None for
    the advantage error, which needs the problems. `none` says why it may have no value, `help` explains it on the page.
    `spreads_as` is the scale of `intervals.studentised`.
    """

    slug: str
    title: str
    unit: str
    best: Best
    of: OnScale | None
    none: str = ""
    help: str = ""

    @property
    def spreads_as(self) -> str:
        if self.best is Best.ZERO:
            return "plain"
        return "share" if self.unit == "share" else "size" if self.unit or self.best is Best.ONE else "coefficient"


def _plain(of: Plain) -> OnScale:
    return lambda table, _: of(table)


_CONSTANT = "one side gives the same points to all"
_SAME = "all points on both sides are the same"

STATISTICS = (
    Statistic("exact", "Exact", "share", Best.HIGH, _plain(statistics.exact)),
    Statistic("off_by_one", "Within 1", "share", Best.HIGH, _plain(statistics.off_by_one)),
    Statistic("off_by_two", "Within 2", "share", Best.HIGH, _plain(statistics.off_by_two)),
    Statistic(
        "bias", "Bias", "points", Best.ZERO, _plain(statistics.bias),
        help="mean of grader minus person; above 0 the grader is generous",
    ),
    Statistic("mae", "MAE", "points", Best.LOW, _plain(statistics.mae)),
    Statistic("rmse", "RMSE", "points", Best.LOW, _plain(statistics.rmse)),
    Statistic(
        "qwk", "QWK", "", Best.HIGH, chance.qwk, none=_SAME,
        help="low if most papers have the same points, even if people agree",
    ),
    Statistic(
        "ac2", "Gwet's AC2", "", Best.HIGH, chance.ac2,
        help="robust to that, but too high if markers disagree on such papers",
    ),
    Statistic(
        "scott_pi_weighted", "Scott's π, weighted", "", Best.HIGH, chance.scott_pi_weighted, none=_SAME,
        help="published as “AC2” elsewhere; never above QWK",
    ),
    Statistic(
        "pearson", "Pearson", "", Best.HIGH, _plain(statistics.pearson), none=_CONSTANT, help="ignores constant generosity"
    ),
    Statistic("spearman", "Spearman", "", Best.HIGH, _plain(statistics.spearman), none=_CONSTANT),
    Statistic(
        "spread_ratio", "Spread ratio", "", Best.ONE, _plain(statistics.spread_ratio), none="the marks are all the same",
        help="below 1: the grader avoids extremes",
    ),
    Statistic(
        "advantage_error", "Advantage error", "points", Best.LOW, None, none="no problem has two papers",
        help="error after subtracting each problem’s mean",
    ),
)  # fmt: skip
#: The function of each statistic by slug, without the advantage error.
FUNCTIONS: Mapping[str, OnScale] = {one.slug: one.of for one in STATISTICS if one.of is not None}


class Estimate(Value):
    """A statistic's value on these pairs and its interval."""

    slug: str
    value: float | Undefined
    interval: Interval | Undefined


def estimates(pairs: tuple[Scored, ...], scale: Scale, *, draws: int, seed: int) -> tuple[Estimate, ...]:
    """All of `STATISTICS` on at least one pair. `draws` 0: without intervals. The same seed gives the same intervals.

    The clusters are whole problems where pairs name them, papers otherwise and inside one problem. Below `CLUSTERS_TO_DRAW`
    intervals are studentised and nothing is drawn. Time and memory grow with draws × different pairs of points.
    """
    problems = {pair.problem for pair in pairs}
    is_one = len(problems) == 1 and "" not in problems
    sample = Sample.of([pair.model_copy(update={"problem": ""}) for pair in pairs] if is_one else pairs)
    clusters = 1 if is_one else sample.clusters
    advantage = AdvantageSums.of(pairs, clusters) if any(problems) else None
    values = _all(sample.table, np.ones(clusters), scale, advantage)
    none = too_few(sample.clusters) or (None if draws else Undefined(reason="no draws were asked for"))
    draws_problems = sample.clusters >= CLUSTERS_TO_DRAW
    tables = () if none else sample.draws(draws, seed) if draws_problems else (sample.without_each(),)
    portions = [_all(table, weights, scale, None if is_one else advantage) for weights, table in tables]
    found = []
    for statistic in STATISTICS:
        value = float(values[statistic.slug])
        if np.isnan(value):
            why = Undefined(reason=_why(statistic, advantage))
            found.append(Estimate(slug=statistic.slug, value=why, interval=why))
            continue
        interval: Interval | Undefined | None = too_few(1) if is_one and statistic.slug == "advantage_error" else none
        if interval is None:
            others = np.concatenate([portion[statistic.slug] for portion in portions])
            interval = percentile(others) if draws_problems else studentised(value, others, statistic.spreads_as)
        found.append(Estimate(slug=statistic.slug, value=value, interval=interval))
    return tuple(found)


def _all(table: Table, weights: Floats, scale: Scale, advantage: AdvantageSums | None) -> dict[str, Floats]:
    values = {name: of(table, scale) for name, of in FUNCTIONS.items()}
    missing = np.full(weights.shape[:-1], np.nan)
    return values | {"advantage_error": missing if advantage is None else advantage.error(weights)}


def _why(statistic: Statistic, advantage: AdvantageSums | None) -> str:
    if statistic.slug == "advantage_error" and advantage is None:
        return "the papers do not say which problem they are of"
    return statistic.none
