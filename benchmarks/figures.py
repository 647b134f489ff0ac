"""Results of benchmarks: figures with their targets, or the reason why something could not be measured."""

from dataclasses import asdict, dataclass
from statistics import median, quantiles
from typing import Any, Literal, Self


class Skipped(Exception):
    """This machine lacks a requirement of the benchmark. The message names it."""


@dataclass(frozen=True)
class Figure:
    """One measured value. With `target` None it is for information only.

    With `chart` it is also drawn there, as a point of `line` at `at`, or as a separate bar if `at` is None.
    """

    name: str
    value: float
    unit: str = ""
    target: float | None = None
    sense: Literal["at least", "at most", "under"] = "at most"
    chart: str = ""
    line: str = ""
    at: float | None = None

    @property
    def is_met(self) -> bool | None:
        if self.target is None:
            return None
        if self.sense == "at least":
            return self.value >= self.target
        return self.value < self.target if self.sense == "under" else self.value <= self.target

    def row(self) -> tuple[str, str, str, str]:
        """Name, value, target and whether it is met, for printing."""
        met = {None: "", True: "yes", False: "no"}[self.is_met]
        target = "" if self.target is None else f"{self.sense} {_number(self.target)}{_unit(self.unit)}"
        return self.name, f"{_number(self.value)}{_unit(self.unit)}", target, met

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, row: dict[str, Any]) -> Self:
        return cls(**row)


def percentiles(values: list[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    return median(values), quantiles(values, n=20, method="inclusive")[-1]


def _number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if value else "0"


def _unit(unit: str) -> str:
    return f" {unit}" if unit else ""
