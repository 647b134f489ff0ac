"""Tables of scores for these tests."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from apps.reasoning.statistics.metrics import Measure, average
from apps.reasoning.statistics.scores import Scores

NAN = float("nan")


def scores(
    cells: npt.NDArray[Any] | Sequence[Sequence[float]],
    total: float | Sequence[float] | None = 1,
    names: str = "p",
    seeds: Sequence[int] = (),
) -> Scores:
    """A table with problems named by number."""
    return Scores.of([f"{names}{row}" for row in range(len(np.asarray(cells)))], cells, total=total, seeds=seeds)


def drawn(problems: int, repeats: int = 4, seed: int = 0, total: int = 1) -> Scores:
    """Whole points with problems of different difficulty."""
    rng = np.random.default_rng(seed)
    chances = rng.beta(0.7, 0.7, problems)[:, None]
    return scores(rng.binomial(total, np.broadcast_to(chances, (problems, repeats))), total)


def mean(table: Scores) -> Measure:
    found = average(table)
    assert isinstance(found, Measure)
    return found
