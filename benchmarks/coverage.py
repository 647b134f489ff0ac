"""Coverage of the 95 % intervals of agreement with few problems.

Papers are sampled from a model of marking: problems differ in difficulty and in the grader's error, and points accumulate at 0
and 7. The true values come from 100,000 papers. The percentile bootstrap is included for comparison.
"""

import numpy as np

from apps.reasoning.agreement.estimates import estimates
from apps.reasoning.agreement.pairs import Scored
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.agreement.statistics import rmse
from apps.reasoning.agreement.table import Sample
from apps.reasoning.statistics.intervals import Interval, percentile
from benchmarks.figures import Figure

SHAPES = ((6, 6), (10, 4), (30, 4))
WORLDS, QUICK_WORLDS = 2_000, 100
TARGET = 0.92
#: Thresholds of a paper's quality between consecutive points.
CUTS = (-0.3, 0.0, 0.2, 0.35, 0.5, 0.65, 0.8)
OF_PROBLEMS, KINDNESS, OF_ERRORS, NOISE = 0.7, 0.1, 0.35, 0.6
DRAWS = 300


def figures(quick: bool = False) -> list[Figure]:
    """Shares of simulated contests whose interval contains the true value: the lowest over all statistics, and three others."""
    found = []
    for problems, papers in SHAPES:
        held, drawn = _coverage(problems, papers, QUICK_WORLDS if quick else WORLDS)
        shape = f"{problems} problems × {papers} papers"
        worst = min(held, key=lambda slug: held[slug])
        found.append(Figure(f"{shape}: lowest of {len(held)} statistics ({worst})", held[worst], "", TARGET, "at least"))
        found += [Figure(f"{shape}: {slug}", held[slug], "", TARGET, "at least") for slug in ("ac2", "rmse", "qwk")]
        found.append(Figure(f"{shape}: rmse by the percentile bootstrap", drawn))
    return found


def _coverage(problems: int, papers: int, worlds: int) -> tuple[dict[str, float], float]:
    """Coverage by statistic, and that of the percentile bootstrap for the RMSE. Samples without an interval do not count."""
    rng, scale = np.random.default_rng(5), Scale()
    truth = {one.slug: one.value for one in estimates(_contest(np.random.default_rng(9), 2_000, 50), scale, draws=0, seed=0)}
    held: dict[str, list[bool]] = {slug: [] for slug in truth if slug != "advantage_error"}
    drawn = []
    for world in range(worlds):
        pairs = _contest(rng, problems, papers)
        for one in estimates(pairs, scale, draws=DRAWS, seed=world):
            if one.slug in held and isinstance(one.interval, Interval):
                held[one.slug].append(_holds(one.interval, truth[one.slug]))
        sample = Sample.of(pairs)
        found = percentile(np.concatenate([rmse(table) for _, table in sample.draws(DRAWS, world)]))
        drawn.append(isinstance(found, Interval) and _holds(found, truth["rmse"]))
    return {slug: float(np.mean(hits)) for slug, hits in held.items()}, float(np.mean(drawn))


def _holds(interval: Interval, truth: object) -> bool:
    return isinstance(truth, float) and interval.low <= truth <= interval.high


def _contest(rng: np.random.Generator, problems: int, papers: int) -> tuple[Scored, ...]:
    difficulty = rng.normal(0, OF_PROBLEMS, problems)[:, None]
    error = rng.normal(KINDNESS, OF_ERRORS, problems)[:, None]
    quality = difficulty + rng.normal(0, 1, (problems, papers))
    seen = quality + error + rng.normal(0, NOISE, (problems, papers))
    human, predicted = np.searchsorted(CUTS, quality), np.searchsorted(CUTS, seen)
    return tuple(
        Scored(paper=f"{p}-{n}", human=float(human[p, n]), predicted=float(predicted[p, n]), problem=f"p{p:04}")
        for p in range(problems)
        for n in range(papers)
    )
