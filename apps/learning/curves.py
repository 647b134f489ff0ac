"""The curves of a job: `metrics.jsonl` read on from where it ended, and thinned to what a screen can show.

A process keeps the curves of the jobs that were looked at last, so an update costs what was added since the one before.
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
#: What a smoothed curve keeps of its past at every point.
INERTIA = 0.9
_NOT_CURVES = frozenset({"step", "time", "clock", "attempt", "tokens"})


class Curves:
    """All curves of one job. Lines of an attempt that was resumed before them are forgotten; half lines wait."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._forget()

    def _forget(self) -> None:
        self.offset = 0
        self._steps = array("d")
        self._axes: dict[Axis, array[float]] = {"tokens": array("d"), "time": array("d")}
        self._values: dict[str, array[float]] = {}
        self._smooth: dict[str, array[float]] = {}
        self._attempt, self._before, self._last_time = 0, 0.0, 0.0

    def read(self) -> None:
        """Reads what was appended. A file that is shorter than before is another one."""
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
            return  # Half of a line, left by a process that was killed.
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
        """A resumed attempt begins at `step`: what stood there before does not count."""
        place = bisect_left(self._steps, step)
        del self._steps[place:]
        for known in (*self._axes.values(), *self._values.values(), *self._smooth.values()):
            del known[place:]

    @property
    def names(self) -> list[str]:
        """The curves there are, in the order in which they came."""
        return [name for name, values in self._values.items() if len(values)]

    @property
    def last(self) -> dict[str, float]:
        """The last line that counts: each curve's value there."""
        count = len(self._steps)
        return {name: values[-1] for name, values in self._values.items() if len(values) == count and count}

    @property
    def last_step(self) -> int:
        """The step of the last line, 0 before the first."""
        return int(self._steps[-1]) if self._steps else 0

    def axis(self, name: Axis) -> Numbers:
        """Where the points lie: steps, tokens trained, or seconds of all attempts."""
        return np.array(self._steps if name == "step" else self._axes[name])

    def steps(self) -> Numbers:
        """The step of every point."""
        return np.array(self._steps)

    def values(self, name: str, *, smooth: bool = False) -> Numbers:
        """A curve's value at every point, NaN where it has none; smoothed: the mean of its past, newer points more."""
        given = self._values.get(name, array("d"))
        found = np.full(len(self._steps), np.nan)
        used = self._smoothed(name, given) if smooth else given
        found[: len(used)] = used
        return found

    def _smoothed(self, name: str, given: "array[float]") -> "array[float]":
        kept = self._smooth.setdefault(name, array("d"))
        past = kept[-1] if kept else math.nan
        for value in given[len(kept) :]:
            if value == value:  # Not NaN: there is a point here.
                past = value if past != past else INERTIA * past + (1 - INERTIA) * value
                kept.append(past)
            else:
                kept.append(math.nan)
        return kept


def thinned(x: Numbers, y: Numbers, width: int) -> NDArray[np.intp]:
    """The places of the points that a screen of `width` columns needs: the lowest and the highest of each column, the first
    and the last. `x` must not fall. Points that are NaN are left out."""
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
    """Curves that are stacked share their places: the mean of each column, where all have a value."""
    there = np.flatnonzero(np.isfinite(x) & np.all([np.isfinite(y) for y in curves], axis=0))
    if len(there) <= width:
        return x[there], [y[there] for y in curves]
    starts = np.unique(np.searchsorted(x[there], np.linspace(x[there][0], x[there][-1], width + 1)[:-1], side="left"))
    counts = np.diff(np.append(starts, len(there)))
    return x[there][starts], [np.add.reduceat(y[there], starts) / counts for y in curves]


def short(values: Numbers, digits: int = 5) -> list[float]:
    """Numbers with so many digits that count, so that they travel in few characters."""
    with np.errstate(divide="ignore"):
        places = np.where(values == 0, 0, np.floor(np.log10(np.abs(values))))
    scale = 10.0 ** (digits - 1 - np.where(np.isfinite(places), places, 0))
    return [float(value) for value in np.round(values * scale) / scale]


_kept: "OrderedDict[Path, Curves]" = OrderedDict()
#: Held while curves are read or drawn: a drawing must not see half of a line.
reading = threading.RLock()


def curves_of(folder: Path) -> Curves:
    """The curves of a job's folder as they are now. Hold `reading` while you use them."""
    path = folder / "metrics.jsonl"
    with reading:
        found = _kept.pop(path, None) or Curves(path)
        _kept[path] = found
        while len(_kept) > KEPT_JOBS:
            _kept.popitem(last=False)
        found.read()
    return found
