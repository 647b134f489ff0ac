"""The scale of points and its grid, whose points are the categories of QWK and AC2."""

from collections.abc import Iterable
from typing import Self

import numpy as np
import numpy.typing as npt
from pydantic import model_validator

from apps.reasoning.domain.values import Value
from apps.reasoning.statistics.intervals import Floats

#: Points that differ by less are equal: sums of decimals in binary.
CLOSE = 1e-9
BAND_EDGES = (0, 1, 3, 6)  # of seven: nothing, a little, half, all but complete


class Scale(Value):
    """Points from `lowest` to `highest`; the categories are `step` apart. Points between them are rounded, halves up."""

    lowest: float = 0
    highest: float = 7
    step: float = 1

    @model_validator(mode="after")
    def _holds_together(self) -> Self:
        steps = (self.highest - self.lowest) / self.step if self.step > 0 else 0
        if steps < 1 or abs(steps - round(steps)) > CLOSE:
            raise ValueError("a scale goes up from its lowest to its highest points in whole steps")
        return self

    def fitted(self, human: Iterable[float]) -> "Scale":
        """This scale with whole points where all marks are whole, with half points otherwise."""
        whole = all(abs(points - round(points)) < CLOSE for points in human)
        return Scale(lowest=self.lowest, highest=self.highest, step=1 if whole else 0.5)

    def holds(self, points: float) -> bool:
        """Whether points lie on the scale; not a number is not."""
        return self.lowest - CLOSE <= points <= self.highest + CLOSE

    @property
    def size(self) -> int:
        """The number of categories, K."""
        return round((self.highest - self.lowest) / self.step) + 1

    @property
    def categories(self) -> tuple[float, ...]:
        return tuple(self.lowest + index * self.step for index in range(self.size))

    @property
    def words(self) -> str:
        name = {1: "whole points", 0.5: "half points"}.get(self.step, f"steps of {self.step:g}")
        return f"{name} from {self.lowest:g} to {self.highest:g}, {self.size} categories"

    def index(self, points: Floats) -> npt.NDArray[np.intp]:
        """The category of each points value, counted from 0."""
        steps = (points - self.lowest) / self.step
        return np.clip(np.floor(steps + 0.5 + CLOSE), 0, self.size - 1).astype(np.intp)

    def rounded(self, points: Floats) -> Floats:
        """The points of the nearest category, halves up."""
        return np.asarray(self.lowest + self.index(points) * self.step, np.float64)

    def nearest(self, points: float) -> float:
        """`rounded` for one value."""
        return float(self.rounded(np.array([points]))[0])

    def bands(self) -> tuple[tuple[float, float], ...]:
        """First and last category of each band: 0, 1–2, 3–5, 6–7 on seven whole points, the same shares elsewhere."""
        reach = self.highest - self.lowest
        firsts = sorted({int(np.ceil(edge / 7 * reach / self.step - CLOSE)) for edge in BAND_EDGES})
        lasts = [*(first - 1 for first in firsts[1:]), self.size - 1]
        points = self.categories
        return tuple((points[first], points[last]) for first, last in zip(firsts, lasts, strict=True))
