"""The table of one method: problems × repeats, with points, 0 or 1, or amounts such as tokens. NaN marks an unscored cell."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from apps.reasoning.statistics.intervals import Floats

#: Scores that differ by less are equal: sums of decimals in binary.
CLOSE = 1e-9
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Cells of one method, shape (P, R). `totals`, shape (P,): the most points of each problem; None for amounts.

    `seeds` are the R seeds, or empty where repeats have none. Arrays are read-only. Make one with `of`.
    """

    problems: tuple[str, ...]
    cells: Floats
    totals: Floats | None
    seeds: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        problems: Sequence[str],
        cells: npt.NDArray[Any] | Sequence[Sequence[float]],
        *,
        total: float | Sequence[float] | None = 1,
        seeds: Sequence[int] = (),
    ) -> Self:
        """Check and freeze a table. `total`: points of every problem, or one value for each; None for amounts from 0 upwards.

        Raises `ValueError` for another shape, duplicate problems or seeds, and cells below 0, above their total or infinite.
        """
        found = np.array(cells, np.float64)
        if found.ndim != 2 or len(found) != len(problems):
            raise ValueError(f"{len(problems)} problems need a table with one row each, not one of shape {found.shape}")
        if len(set(problems)) < len(problems) or len(set(seeds)) < len(seeds):
            raise ValueError("a problem or a seed is named twice")
        if seeds and len(seeds) != found.shape[1]:
            raise ValueError(f"{len(seeds)} seeds do not fit {found.shape[1]} repeats")
        totals = None if total is None else np.array(np.broadcast_to(np.asarray(total, np.float64), len(found)))
        most = np.full(len(found), np.inf) if totals is None else totals
        if not (most > 0).all():
            raise ValueError("a total must be above 0")
        if np.isinf(found).any() or (found < -CLOSE).any() or (found > most[:, None] + CLOSE).any():
            raise ValueError("a cell is below 0, above its total or infinite")
        for array in (found, totals):
            if array is not None:
                array.setflags(write=False)
        return cls(tuple(problems), found, totals, tuple(seeds))

    @property
    def shares(self) -> Floats:
        """Cells as shares of their totals, shape (P, R); amounts as they are."""
        return self.cells if self.totals is None else self.cells / self.totals[:, None]

    @property
    def scored(self) -> Integers:
        """Number of scored repeats of each problem, shape (P,)."""
        return np.asarray((~np.isnan(self.cells)).sum(axis=1), np.int64)

    def on(self, problems: Sequence[str]) -> Self:
        """The rows of these problems, in their order. Raises `ValueError` if one is missing."""
        row = {name: index for index, name in enumerate(self.problems)}
        if missing := [name for name in problems if name not in row]:
            raise ValueError(f"there are no scores on {', '.join(missing[:5])}")
        return self._part([row[name] for name in problems], range(self.cells.shape[1]))

    def with_scored(self, repeats: int) -> Self:
        """The problems with at least this many scored repeats."""
        return self._part(np.flatnonzero(self.scored >= repeats).tolist(), range(self.cells.shape[1]))

    def _part(self, rows: Sequence[int], columns: Sequence[int], unscored: npt.NDArray[np.bool_] | None = None) -> Self:
        cells = self.cells[np.ix_(rows, columns)]
        return type(self).of(
            [self.problems[row] for row in rows],
            cells if unscored is None else np.where(unscored, np.nan, cells),
            total=None if self.totals is None else self.totals[list(rows)].tolist(),
            seeds=[self.seeds[column] for column in columns] if self.seeds else (),
        )


def aligned(left: Scores, right: Scores, *, by_seed: bool = False) -> tuple[Scores, Scores]:
    """Both tables on their common problems, in the order of `left`.

    `by_seed`: also on common seeds, and a cell that is unscored on one side is unscored on both. Raises `ValueError` without
    seeds.
    """
    theirs = {name: index for index, name in enumerate(right.problems)}
    rows = [index for index, name in enumerate(left.problems) if name in theirs]
    others = [theirs[left.problems[row]] for row in rows]
    if not by_seed:
        return left._part(rows, range(left.cells.shape[1])), right._part(others, range(right.cells.shape[1]))
    if not left.seeds or not right.seeds:
        raise ValueError("pairing by seed needs the seeds of both tables")
    seeds = [seed for seed in left.seeds if seed in right.seeds]
    columns, opposite = [left.seeds.index(seed) for seed in seeds], [right.seeds.index(seed) for seed in seeds]
    unscored = np.isnan(left.cells[np.ix_(rows, columns)]) | np.isnan(right.cells[np.ix_(others, opposite)])
    return left._part(rows, columns, unscored), right._part(others, opposite, unscored)
