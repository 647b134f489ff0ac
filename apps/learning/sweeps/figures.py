"""Figures of jobs side by side: the last and the best reward and held-out score of each, and means over seeds."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from apps.learning.charts.curves import curves_of, reading
from apps.learning.models import JobState, TrainingJob
from apps.learning.sweeps.alike import experiment_of, seed_of, values_of
from apps.learning.sweeps.settings import SEED
from apps.reasoning.statistics.intervals import CLUSTERS_AT_LEAST, Floats, Interval, studentised
from apps.reasoning.statistics.means import interval
from apps.reasoning.statistics.metrics import of_problems

REWARD, HELD_OUT = "reward", "held_out/score"
#: Figures of a run with the titles of their columns.
FIGURES = {
    "last_reward": "Last reward",
    "best_reward": "Best reward",
    "last_held_out": "Last held out",
    "best_held_out": "Best held out",
}
#: Colours and dashes of curves; runs that differ only in their seed share both.
COLOURS, DASHES = 6, 6


@dataclass(frozen=True)
class Figure:
    """A number with its step and, for a held-out score, its 95 % interval over problems."""

    value: float
    step: int
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Run:
    """One job in the table. `group`: number of its experiment, which decides colour and dash."""

    job: TrainingJob
    values: Mapping[str, str]
    group: int
    figures: Mapping[str, Figure]

    @property
    def colour(self) -> int:
        """Number of its colour."""
        return self.group % COLOURS

    @property
    def dash(self) -> int:
        """Number of its dash."""
        return self.group // COLOURS % DASHES

    @property
    def label(self) -> str:
        """Its settings in one line; its title if it has none."""
        return ", ".join(f"{name} {value}" for name, value in self.values.items()) or self.job.title

    @property
    def cells(self) -> list[tuple[str, Figure | None]]:
        """Figures in the order of the columns, with their titles."""
        return [(title, self.figures.get(name)) for name, title in FIGURES.items()]


@dataclass(frozen=True)
class Mean:
    """Mean of a figure over seeds. `low` and `high` are None where there are too few."""

    value: float
    count: int
    low: float | None
    high: float | None

    @property
    def lacking(self) -> int:
        """Runs that an interval still needs."""
        return max(0, CLUSTERS_AT_LEAST - self.count)


@dataclass(frozen=True)
class Repeated:
    """Runs that differ only in their seed: the settings that they share, and means over the seeds that finished.

    `seeds` and `finished` count seeds. Runs of one seed (`twice`) are one value of the means: their average.
    """

    values: Mapping[str, str]
    group: int
    seeds: int
    finished: int
    twice: Sequence[int]
    means: Mapping[str, Mean]

    colour, dash = Run.colour, Run.dash

    @property
    def cells(self) -> list[tuple[str, Mean | None]]:
        """Means in the order of the columns, with their titles."""
        return [(title, self.means.get(name)) for name, title in FIGURES.items()]


def runs_of(jobs: Sequence[TrainingJob], names: Sequence[str]) -> list[Run]:
    """Table of jobs by the settings `names`, in the order given. Without names each job is a group of its own."""
    groups: dict[str, int] = {}
    found = []
    for job in jobs:
        own = experiment_of(job) if names else str(job.pk)
        found.append(Run(job, values_of(job, names), groups.setdefault(own, len(groups)), figures_of(job)))
    return found


def figures_of(job: TrainingJob) -> dict[str, Figure]:
    """Figures of a job; those that it has not measured are left out."""
    path = job.folder / "metrics.jsonl"
    try:
        size = path.stat().st_size
    except OSError:
        return {}
    return _figures(job.folder, size)


@lru_cache(maxsize=512)
def _figures(folder: Path, _size: int) -> dict[str, Figure]:
    with reading:
        curves = curves_of(folder)
        steps = curves.steps()
        found = {}
        for name, curve in (("reward", REWARD), ("held_out", HELD_OUT)):
            values = curves.values(curve)
            there = np.flatnonzero(np.isfinite(values))
            if not len(there):
                continue
            bounds = (
                [curves.values(curve.replace("/score", bound)) for bound in ("/low", "/high")] if name == "held_out" else []
            )
            for which, place in (("last", there[-1]), ("best", there[np.argmax(values[there])])):
                low, high = (_finite(bound[place]) for bound in bounds) if bounds else (None, None)
                found[f"{which}_{name}"] = Figure(float(values[place]), int(steps[place]), low, high)
    return found


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def repeated(runs: Sequence[Run]) -> list[Repeated]:
    """Means over seeds of each experiment; empty unless one has several seeds."""
    groups: dict[int, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.group, []).append(run)
    if not any(len({seed_of(run.job) for run in group}) > 1 for group in groups.values()):
        return []
    return [_repeated(group) for group in groups.values()]


def _repeated(runs: Sequence[Run]) -> Repeated:
    seeds = Counter(seed_of(run.job) for run in runs)
    done: dict[int, list[Run]] = {}
    for run in runs:
        if run.job.state == JobState.FINISHED:
            done.setdefault(seed_of(run.job), []).append(run)
    means = {}
    for name in FIGURES:
        by_seed = [[run.figures[name].value for run in same if name in run.figures] for same in done.values()]
        values = [sum(same) / len(same) for same in by_seed if same]
        if values:
            means[name] = mean_of(values)
    shared = {name: value for name, value in runs[0].values.items() if name != SEED}
    twice = sorted(seed for seed, count in seeds.items() if count > 1)
    return Repeated(shared, runs[0].group, len(seeds), len(done), twice, means)


def mean_of(values: Sequence[float]) -> Mean:
    """Mean over seeds with its 95 % interval, in which seeds are the clusters of docs/statistics.md.

    Values from 0 to 1 have the interval of shares, others Student's t.
    """
    found = np.array(values, np.float64)
    bounds = _bounds(found) if len(found) >= CLUSTERS_AT_LEAST else None
    low, high = (bounds.low, bounds.high) if isinstance(bounds, Interval) else (None, None)
    return Mean(float(found.mean()), len(found), low, high)


def _bounds(values: Floats) -> object:
    count = len(values)
    if values.min() >= 0 and values.max() <= 1:
        seeds = tuple(str(number) for number in range(count))
        return interval(of_problems(seeds, values, np.ones(count, np.int64)))
    return studentised(float(values.mean()), (values.sum() - values) / (count - 1), "plain")


def in_order(runs: Sequence[Run], sort: str) -> list[Run]:
    """Runs ordered by a setting, the state, the step or a figure; `-` reverses. Runs without the value come last."""
    known = [(_key(run, sort.removeprefix("-")), run) for run in runs]
    there = [(key, run) for key, run in known if key is not None]
    there.sort(key=lambda one: one[0], reverse=sort.startswith("-"))
    return [run for _, run in there] + [run for key, run in known if key is None]


def _key(run: Run, name: str) -> tuple[float, str] | None:
    """Place of a run: numbers in their order, then words."""
    if name in FIGURES:
        return (run.figures[name].value, "") if name in run.figures else None
    if name == "step":
        return run.job.step, ""
    text = run.job.state if name == "state" else run.values.get(name)
    if text is None:
        return None
    try:
        return float(text), ""
    except ValueError:
        return math.inf, text
