"""Two graders on the same papers: how far a statistic differs between them, with an interval over whole problems.

Both graders are looked at on the same draws of problems, so that what makes a paper hard for both cancels out. Intervals of
each alone may overlap where the paired difference is plain.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from apps.reasoning.agreement.estimates import FUNCTIONS
from apps.reasoning.agreement.pairs import Scored
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.agreement.table import Sample, Table
from apps.reasoning.domain.values import Value
from apps.reasoning.statistics.intervals import CLUSTERS_TO_DRAW, Floats, Interval, Undefined, percentile, studentised, too_few

#: The statistics whose difference is reported, by the slugs of `estimates.STATISTICS`.
COMPARED = ("exact", "off_by_one", "bias", "mae", "rmse", "qwk", "ac2")


class Difference(Value):
    """A grader's statistic less the baseline's, and its 95 % interval."""

    slug: str
    value: float | Undefined
    interval: Interval | Undefined


def portions(samples: Sequence[Sample], draws: int, seed: int) -> Iterator[tuple[Table, ...]]:
    """Tables of all samples on the same drawn clusters, or, where these are few, without each in turn (at least two)."""
    if samples[0].clusters >= CLUSTERS_TO_DRAW:
        for drawn in zip(*(sample.draws(draws, seed) for sample in samples), strict=True):
            yield tuple(table for _, table in drawn)
    else:
        yield tuple(sample.without_each()[1] for sample in samples)


def interval_of(value: float, others: Floats, clusters: int) -> Interval | Undefined:
    """Of a difference with its values on the portions: the bootstrap's from `CLUSTERS_TO_DRAW` on, else studentised."""
    return percentile(others) if clusters >= CLUSTERS_TO_DRAW else studentised(value, others, "plain")


def differences(
    baseline: Sequence[Scored], other: Sequence[Scored], scale: Scale, *, draws: int, seed: int
) -> tuple[Difference, ...]:
    """All of `COMPARED`, for pairs of the same papers with the same marks; raises `ValueError` for others.

    Clusters are as in `estimates`: whole problems, papers where none is named or all are of one.
    """
    if {(one.paper, one.human) for one in baseline} != {(one.paper, one.human) for one in other} or not baseline:
        raise ValueError("paired differences take the same papers with the same marks on both sides")
    is_one = len({pair.problem for pair in baseline}) == 1
    samples = [Sample.of([_clustered(pair, is_one) for pair in pairs]) for pairs in (baseline, other)]
    clusters = samples[0].clusters
    none = too_few(clusters) or (None if draws else Undefined(reason="no draws were asked for"))
    tables = [] if none else list(portions(samples, draws, seed))
    found = []
    for slug in COMPARED:
        of = FUNCTIONS[slug]
        value = float(of(samples[1].table, scale) - of(samples[0].table, scale))
        if np.isnan(value):
            why = Undefined(reason="one of the two has no value")
            found.append(Difference(slug=slug, value=why, interval=why))
            continue
        others = np.concatenate([np.atleast_1d(of(right, scale) - of(left, scale)) for left, right in tables] or [np.array([])])
        found.append(Difference(slug=slug, value=value, interval=none or interval_of(value, others, clusters)))
    return tuple(found)


def _clustered(pair: Scored, is_one: bool) -> Scored:
    """The group of a pair: its problem, or the paper itself if the problem is unknown."""
    return pair if pair.problem and not is_one else pair.model_copy(update={"problem": f"\0{pair.paper}"})
