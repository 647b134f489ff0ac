"""Curves of a job: `metrics.jsonl`, read incrementally and thinned to the resolution of a screen.

A process caches the curves of the jobs shown last, so an update reads only the appended lines.
"""

import json
import math
import threading
from array import array
from bisect import bisect_left
from collections import OrderedDict
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.float64]
Axis = Literal["step", "tokens", "time"]
AXES: tuple[Axis, ...] = get_args(Axis)
KEPT_JOBS = 8
#: More jobs are kept while their files are no larger than this together: those of a sweep.
KEPT_BYTES = 64_000_000
#: Weight of the past at every point of a smoothed curve.
INERTIA = 0.9
_NOT_CURVES = frozenset({"step", "time", "clock", "attempt", "tokens"})


class Curves:
    """All curves of one job. Steps repeated by a resumed attempt are replaced; incomplete lines are read later."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self.offset = 0
        self._steps = array("d")
        self._axes: dict[Axis, array[float]] = {"tokens": array("d"), "time": array("d")}
        self._values: dict[str, array[float]] = {}
        self._smooth: dict[str, tuple[array[float], array[float]]] = {}
        self._attempt, self._before, self._last_time = 0, 0.0, 0.0

    def read(self) -> None:
        """Read the appended lines. A file that has become shorter is read from its start."""
        try:
            with self.path.open("rb") as file:
                if file.seek(0, 2) < self.offset:
                    self._forget()
                file.seek(self.offset)
                text = file.read()
        except OSError:
            return
        end = text.rfind(b"\n") + 1
        self.offset += end
        for line in text[:end].splitlines():
            self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            found = json.loads(line)
            step, attempt, time = int(found["step"]), int(found["attempt"]), float(found["time"])
        except (ValueError, KeyError, TypeError):
            return  # Part of a line, left by a killed process.
        if attempt > self._attempt:
            self._forget_from(step)
            self._before = self._axes["time"][-1] if self._steps else 0.0
            self._attempt = attempt
        count = len(self._steps)
        self._steps.append(step)
        self._axes["time"].append(self._before + time)
        self._axes["tokens"].append(float(found.get("tokens", math.nan)))
        for name, value in found.items():
            if name in _NOT_CURVES or not isinstance(value, int | float):
                continue
            values = self._values.get(name)
            if values is None:
                values = self._values[name] = array("d", [math.nan]) * count
            elif len(values) < count:
                values.extend([math.nan] * (count - len(values)))
            values.append(value)

    def _forget_from(self, step: int) -> None:
        """Drop all points from `step` on, where a resumed attempt begins."""
        place = bisect_left(self._steps, step)
        del self._steps[place:]
        smoothed = [one for pair in self._smooth.values() for one in pair]
        for known in (*self._axes.values(), *self._values.values(), *smoothed):
            del known[place:]

    @property
    def names(self) -> list[str]:
        """Names of the curves, in order of first appearance."""
        return [name for name, values in self._values.items() if len(values)]

    @property
    def last(self) -> dict[str, float]:
        """Values of the last line, by curve."""
        count = len(self._steps)
        return {name: values[-1] for name, values in self._values.items() if len(values) == count and count}

    @property
    def last_step(self) -> int:
        """Step of the last line; 0 before the first."""
        return int(self._steps[-1]) if self._steps else 0

    def axis(self, name: Axis) -> Numbers:
        """Position of every point: steps, tokens trained, or seconds over all attempts."""
        return np.array(self._steps if name == "step" else self._axes[name])

    def steps(self) -> Numbers:
        """Step of every point."""
        return np.array(self._steps)

    def values(self, name: str, *, smooth: bool = False) -> Numbers:
        """Value of a curve at every point, NaN where it has none; `smooth`: a debiased exponential mean."""
        given = self._values.get(name, array("d"))
        found = np.full(len(self._steps), np.nan)
        found[: len(given)] = given
        if smooth:
            found[: len(given)] = np.where(np.isnan(given), np.nan, self._smoothed(name, given))
        return found

    def _smoothed(self, name: str, given: "array[float]") -> "array[float]":
        """Exponential mean at every point, divided by the weight 1 − 0.9ⁿ that n values have so far."""
        means, weights = self._smooth.setdefault(name, (array("d"), array("d")))
        mean, weight = (means[-1], weights[-1]) if means else (0.0, 0.0)
        for value in given[len(means) :]:
            if value == value:  # Not NaN.
                past = INERTIA * weight
                weight = past + 1 - INERTIA
                mean = (past * mean + (1 - INERTIA) * value) / weight
            means.append(mean)
            weights.append(weight)
        return means


def thinned(x: Numbers, y: Numbers, width: int) -> NDArray[np.intp]:
    """Indices of the points for a screen of `width` columns: the lowest and highest of each column, the first and the last.

    `x` must not decrease. NaN points are left out.
    """
    there = np.flatnonzero(np.isfinite(y) & np.isfinite(x))
    if len(there) <= 2 * width:
        return there
    x, y = x[there], y[there]
    edges = np.linspace(x[0], x[-1], width + 1)[:-1]
    starts = np.unique(np.searchsorted(x, edges, side="left"))
    column = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(x))))
    chosen = [np.array([0, len(x) - 1])]
    for extreme in (np.minimum, np.maximum):
        reached = np.flatnonzero(y == extreme.reduceat(y, starts)[column])
        chosen.append(reached[np.unique(column[reached], return_index=True)[1]])
    found: NDArray[np.intp] = there[np.unique(np.concatenate(chosen))]
    return found


def column_means(x: Numbers, curves: list[Numbers], width: int) -> tuple[Numbers, list[Numbers]]:
    """Column means of stacked curves at shared positions, where all curves have a value."""
    there = np.flatnonzero(np.isfinite(x) & np.all([np.isfinite(y) for y in curves], axis=0))
    if len(there) <= width:
        return x[there], [y[there] for y in curves]
    starts = np.unique(np.searchsorted(x[there], np.linspace(x[there][0], x[there][-1], width + 1)[:-1], side="left"))
    counts = np.diff(np.append(starts, len(there)))
    return x[there][starts], [np.add.reduceat(y[there], starts) / counts for y in curves]


def short(values: Numbers, digits: int = 5) -> list[float]:
    """Numbers rounded to `digits` significant digits, for a short transfer."""
    with np.errstate(divide="ignore"):
        places = np.where(values == 0, 0, np.floor(np.log10(np.abs(values))))
    scale = 10.0 ** (digits - 1 - np.where(np.isfinite(places), places, 0))
    return [float(value) for value in np.round(values * scale) / scale]


_kept: "OrderedDict[Path, Curves]" = OrderedDict()
#: Held while curves are read or drawn: a drawing must not see a partial line.
reading = threading.RLock()


def curves_of(folder: Path) -> Curves:
    """Current curves of a job's folder. Hold `reading` while you use them."""
    path = folder / "metrics.jsonl"
    with reading:
        found = _kept.pop(path, None) or Curves(path)
        _kept[path] = found
        found.read()
        while len(_kept) > KEPT_JOBS and sum(one.offset for one in _kept.values()) > KEPT_BYTES:
            _kept.popitem(last=False)
    return found
