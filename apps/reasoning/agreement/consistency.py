"""How far a grader agrees with itself over repeated runs. Consistency is not accuracy: a constant grader has all of it."""

from collections.abc import Iterable, Sequence
from statistics import fmean, pstdev
from typing import TypeVar

from apps.reasoning.agreement.scales import CLOSE
from apps.reasoning.domain.values import Unscored, Value

Points = TypeVar("Points")


class Consistency(Value):
    """`papers` had at least two scored runs, `left_out` had fewer. The shares and means are over `papers`.

    `same` is the share of papers whose runs all gave the same points, `spread` the mean standard deviation over a paper's runs
    (the runs as the whole population) and `range` the mean of greatest less smallest, both in points.
    """

    papers: int
    left_out: int
    same: float
    spread: float
    range: float


def without_replays(runs: Iterable[tuple[int | None, Points]]) -> tuple[list[Points], int]:
    """The results of the runs on one paper, one per seed, and the number of replays left out.

    Repeating a request with the same seed gives no independent answer. Of such runs the first scored one counts, else the
    first. Runs with an unknown seed (None) all count.
    """
    kept: dict[object, Points] = {}
    replays = 0
    for number, (seed, points) in enumerate(runs):
        key = ("unknown", number) if seed is None else seed
        replays += key in kept
        if key not in kept or (isinstance(kept[key], Unscored) and not isinstance(points, Unscored)):
            kept[key] = points
    return list(kept.values()), replays


def consistency(runs: Sequence[Sequence[float | Unscored]]) -> Consistency | Unscored:
    """From the points of each paper's runs; an unscored run is left out. `Unscored` where no paper has two scored runs."""
    scored = [[points for points in paper if not isinstance(points, Unscored)] for paper in runs]
    repeated = [paper for paper in scored if len(paper) > 1]
    if not repeated:
        return Unscored(reason="no paper was scored twice")
    ranges = [max(paper) - min(paper) for paper in repeated]
    return Consistency(
        papers=len(repeated),
        left_out=len(runs) - len(repeated),
        same=fmean(spread < CLOSE for spread in ranges),
        spread=fmean(map(pstdev, repeated)),
        range=fmean(ranges),
    )
