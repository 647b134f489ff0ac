"""Hand-made tables of points, and textbook formulas over a full K × K table for comparison."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from apps.reasoning.agreement.pairs import Pair
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.agreement.table import Table
from apps.reasoning.domain.values import Unscored

Floats = npt.NDArray[np.float64]
WHOLE, HALVES = Scale(), Scale(step=0.5)

#: Marks and predictions by name, for every kind of table in practice.
TABLES: dict[str, tuple[Sequence[float], Sequence[float]]] = {
    "perfect": ([0, 1, 6, 7, 7], [0, 1, 6, 7, 7]),
    "reversed": ([0, 1, 6, 7], [7, 6, 1, 0]),
    "constant prediction": ([0, 3, 7, 7], [7, 7, 7, 7]),
    "both constant": ([7, 7, 7], [7, 7, 7]),
    "skewed": ([0] * 18 + [7, 7], [0] * 17 + [7, 7, 0]),
    "half points": ([0, 0.5, 3.5, 6.5, 7], [0, 1, 3, 6.5, 6.5]),
    "one pair": ([3], [5]),
    "generous": ([0, 0, 1, 2, 6, 7], [1, 0, 3, 7, 7, 7]),
}


def table(name: str) -> Table:
    return Table.of(*TABLES[name])


def one(value: Floats) -> float:
    """The value of a statistic for a single table."""
    assert value.shape == ()
    return float(value)


def pairs_of(human: Sequence[float], predicted: Sequence[float | None], problems: int = 0) -> list[Pair]:
    """Pairs in this order. `None` means unscored; `problems`: number of problems to cycle through, 0 for none."""
    return [
        Pair(
            paper=f"paper-{number}",
            human=mark,
            predicted=Unscored(reason="there is no verdict") if points is None else points,
            problem=f"p{number % problems}" if problems else "",
        )
        for number, (mark, points) in enumerate(zip(human, predicted, strict=True))
    ]


def by_the_book(human: Sequence[float], predicted: Sequence[float], scale: Scale) -> dict[str, float]:
    """QWK, Scott's π and AC2 computed from the contingency table and its weights."""
    size = scale.size
    share = np.zeros((size, size))
    for mark, points in zip(human, predicted, strict=True):
        share[round((mark - scale.lowest) / scale.step), round((points - scale.lowest) / scale.step)] += 1 / len(human)
    distance = np.array([[(i - j) ** 2 / (size - 1) ** 2 for j in range(size)] for i in range(size)])
    rows, columns = share.sum(1), share.sum(0)
    pooled = (rows + columns) / 2
    observed = (distance * share).sum()
    by_chance = (1 - distance).sum() / (size * (size - 1)) * (pooled * (1 - pooled)).sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "qwk": float(1 - observed / (distance * np.outer(rows, columns)).sum()),
            "scott_pi_weighted": float(1 - observed / (distance * np.outer(pooled, pooled)).sum()),
            "ac2": float((1 - observed - by_chance) / (1 - by_chance)),
        }
