"""Coverage of the 95 % intervals of experiments: means, pass@4, paired differences, amounts, corrected and posterior means.

Each figure is the lowest over the truths of `truths`. An interval that is undefined counts as one that misses. The percentile
bootstrap of problems and repeats is measured on the same tables.
"""

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

import numpy as np

from apps.reasoning.statistics.bootstrap import bootstrap, resampled
from apps.reasoning.statistics.differences import difference
from apps.reasoning.statistics.dirichlet import Posterior, posterior
from apps.reasoning.statistics.intervals import Floats, Interval, Undefined, percentile
from apps.reasoning.statistics.means import interval
from apps.reasoning.statistics.metrics import Measure, average, pass_at_k
from apps.reasoning.statistics.prediction_powered import Corrected, corrected_mean
from apps.reasoning.statistics.scores import Scores
from benchmarks.experiments.truths import REPEATS, SHIFTS, TRUTHS, another, points, solved
from benchmarks.figures import Figure

PROBLEMS = (6, 10, 30, 60)
WORLDS, QUICK_WORLDS = 2_000, 200
TARGET = 0.93
MANY = 400_000
Cells = Callable[[np.random.Generator, Floats, int], Floats]
Metric = Callable[[Scores], Measure | Undefined]
#: Name → cells from chances, their total, and the metric.
METRICS: dict[str, tuple[Cells, float, Metric]] = {
    "mean of 0 or 1": (solved, 1, average),
    "mean of 0–7 points": (points, 7, average),
    "pass@4": (solved, 1, partial(pass_at_k, k=4)),
}
PLAIN = ("mean of 0 or 1", "mean of 0–7 points")
DRAWS = 400


def figures(quick: bool = False) -> list[Figure]:
    worlds = QUICK_WORLDS if quick else WORLDS
    found = [_lowest(f"{count} problems × 4: {name}", _means(name, count, worlds)) for count in PROBLEMS for name in METRICS]
    found += [_lowest(f"{count} problems × 8: {name}", _means(name, count, worlds, 8)) for count in PROBLEMS for name in PLAIN]
    found += [
        _lowest(f"{count} problems × 4: difference, {name}", _differences(name, count, worlds))
        for count in PROBLEMS
        for name in METRICS
    ]
    found += [
        _lowest(f"{count} problems × 4: corrected, a quarter marked", _corrected(count, worlds)) for count in (15, 30, 60)
    ]
    found += [
        Figure(f"{count} problems × 4: {name} by the percentile bootstrap", min(_drawn(name, count, worlds // 10))[0])
        for count in (30, 60)
        for name in METRICS
    ]
    found += [Figure(f"{count} problems × 4: amounts (log-normal)", _amounts(count, worlds)) for count in PROBLEMS]
    found += [
        Figure(f"30 problems × 4: Dirichlet posterior, prior {prior:g} ({title})", share)
        for prior in (1, 0.1)
        for share, title in _posteriors(prior, worlds)
    ]
    return [*found, Figure("bootstrap of 60 problems × 4, 4,000 draws", _bootstrap_ms(), "ms", 50)]


def _lowest(name: str, held: Iterator[tuple[float, str]]) -> Figure:
    share, truth = min(held)
    return Figure(f"{name} ({truth})", share, "", TARGET, "at least")


def _table(cells: Floats, total: float | None = 1) -> Scores:
    return Scores.of([f"p{index}" for index in range(len(cells))], cells, total=total)


def _true(name: str, chances: Floats) -> float:
    if name == "pass@4":
        return float((1 - (1 - chances) ** REPEATS).mean())
    return float(points(np.random.default_rng(3), chances, 1).mean() / 7 if "points" in name else chances.mean())


def _holds(found: object, truth: float) -> bool:
    return isinstance(found, Interval) and found.low - 1e-9 <= truth <= found.high + 1e-9


def _means(name: str, count: int, worlds: int, repeats: int = REPEATS) -> Iterator[tuple[float, str]]:
    cells, total, metric = METRICS[name]
    for title, truth in TRUTHS.items():
        rng = np.random.default_rng(count)
        true = _true(name, truth.chances(rng, (MANY,)))
        found = (metric(_table(cells(rng, truth.chances(rng, (count,)), repeats), total)) for _ in range(worlds))
        yield float(np.mean([isinstance(one, Measure) and _holds(interval(one), true) for one in found])), title


def _differences(name: str, count: int, worlds: int) -> Iterator[tuple[float, str]]:
    cells, total, metric = METRICS[name]
    for title, truth in TRUTHS.items():
        for shift in SHIFTS:
            rng = np.random.default_rng(count)
            many = truth.chances(rng, (MANY,))
            true = _true(name, another(rng, many, shift)) - _true(name, many) if any(shift) else 0.0
            held = []
            for _ in range(worlds // 2):
                chances = truth.chances(rng, (count,))
                sides = [metric(_table(cells(rng, one, REPEATS), total)) for one in (another(rng, chances, shift), chances)]
                assert isinstance(sides[0], Measure)
                assert isinstance(sides[1], Measure)
                found = difference(sides[0], sides[1], flips=1)
                held.append(not isinstance(found, Undefined) and _holds(found.interval, true))
            yield float(np.mean(held)), f"{title}, shift {shift[0]:g} ± {shift[1]:g}"


def _corrected(count: int, worlds: int) -> Iterator[tuple[float, str]]:
    """A grader that is kind and noisy; people mark a quarter of the cells."""
    for title, truth in TRUTHS.items():
        rng = np.random.default_rng(count)
        true = _true("points", truth.chances(rng, (MANY,)))
        held = []
        for _ in range(worlds // 2):
            marks = points(rng, truth.chances(rng, (count,)))
            kind = np.where(rng.random(marks.shape) < 0.25, 2, 0) + rng.integers(-1, 2, marks.shape)
            known = np.where(rng.random(marks.shape) < 0.25, marks, np.nan)
            found = corrected_mean(_table(np.clip(marks + kind, 0, 7), 7), _table(known, 7))
            held += [_holds(found.interval, true)] if isinstance(found, Corrected) else []
        yield float(np.mean(held)), title


def _drawn(name: str, count: int, worlds: int) -> Iterator[tuple[float, str]]:
    cells, total, _ = METRICS[name]
    for title, truth in TRUTHS.items():
        rng = np.random.default_rng(count)
        true = _true(name, truth.chances(rng, (MANY,)))
        held = []
        for world in range(worlds):
            drawn = resampled(_table(cells(rng, truth.chances(rng, (count,)), REPEATS), total), draws=DRAWS, seed=world)
            held.append(_holds(percentile((drawn.max(axis=2) if name == "pass@4" else drawn.mean(axis=2)).mean(axis=1)), true))
        yield float(np.mean(held)), title


def _amounts(count: int, worlds: int, between: float = 0.6, within: float = 0.4) -> float:
    rng, held = np.random.default_rng(count), []
    for _ in range(worlds):
        cells = np.exp(rng.normal(0, between, (count, 1)) + rng.normal(0, within, (count, REPEATS)))
        found = average(_table(cells, None))
        held.append(isinstance(found, Measure) and _holds(interval(found), float(np.exp((between**2 + within**2) / 2))))
    return float(np.mean(held))


def _posteriors(prior: float, worlds: int) -> Iterator[tuple[float, str]]:
    """Of the true mean of the very problems of the table."""
    for title, truth in TRUTHS.items():
        rng, held = np.random.default_rng(5), []
        for _ in range(worlds // 10):
            chances = truth.chances(rng, (30,))
            found = posterior(_table(points(rng, chances), 7), prior=prior)
            held.append(isinstance(found, Posterior) and _holds(found.interval, points(rng, chances, 4_000).mean() / 7))
        yield float(np.mean(held)), title


def _bootstrap_ms() -> float:
    scores, times = _table(solved(np.random.default_rng(0), np.full(60, 0.5))), []
    for seed in range(10):
        start = perf_counter()
        bootstrap(scores, lambda drawn: drawn.mean(axis=(1, 2)), seed=seed)
        times.append(perf_counter() - start)
    return float(np.median(times)) * 1_000
