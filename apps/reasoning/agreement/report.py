"""The whole comparison of one grader with one person's marks: counts, statistics, confusion matrix, bias by band."""

from collections.abc import Sequence

import numpy as np

from apps.reasoning.agreement.estimates import Estimate, estimates
from apps.reasoning.agreement.pairs import Missing, Pair, Scored, Sorted
from apps.reasoning.agreement.scales import CLOSE, Scale
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.statistics.intervals import Interval

FEW = 30
DRAWS = 2000


class AuthorsMixed(Exception):
    """Papers of people and of models, or of several models' families, are never pooled; compare them by `by_author`."""


class Counts(Value):
    """Counts of the predictions, without any statistic; these may be shown for any number of pairs.

    `clusters` is the unit of intervals: problems, and papers that name none; of one problem its papers.
    """

    pairs: int
    problems: int
    clusters: int
    same: int
    within_one: int
    within_two: int
    over: int
    under: int


class Cell(Value):
    """One cell of the confusion matrix, with the papers behind it. `share` is of its row, the person's category."""

    human: float
    predicted: float
    count: int
    share: float
    papers: tuple[str, ...]


class Band(Value):
    """The pairs whose mark lies from `low` to `high`, both included. `bias` and `mae` are None for fewer than `FEW`."""

    low: float
    high: float
    counts: Counts
    bias: float | None
    mae: float | None


class Agreement(Value):
    """One comparison. `estimates` is empty below `FEW` pairs: then there are only counts.

    `scale` is that of QWK, AC2 and Scott's π; `rounded` counts the predictions and marks that were not on it. `accuracy` is
    the share of exact pairs, where unscored counts as wrong; None without pairs. `exact_of` is that share in counts.
    """

    scale: Scale
    rounded: int
    counts: Counts
    accuracy: float | None
    exact_of: tuple[int, int]
    unscored: tuple[Missing, ...]
    unmarked: tuple[Missing, ...]
    contaminated: tuple[Missing, ...]
    estimates: tuple[Estimate, ...]
    confusion: tuple[Cell, ...]
    bands: tuple[Band, ...]

    def estimate(self, slug: str) -> Estimate:
        """The estimate of that name. Raises `KeyError`, also where there are only counts."""
        for found in self.estimates:
            if found.slug == slug:
                return found
        raise KeyError(slug)


def agree(pairs: Sequence[Pair], scale: Scale | None = None, *, draws: int = DRAWS, seed: int = 0) -> Agreement:
    """Compare. Without a scale: 0 to 7, in half points where a mark has one, in whole points otherwise.

    Raises `AuthorsMixed` where the papers come from more than one source, and `ValueError` where points lie off the scale.
    """
    if len({pair.author for pair in pairs}) > 1:
        raise AuthorsMixed("papers of several author sources are not pooled")
    parts = Sorted.of(pairs)
    scored = parts.scored
    scale = scale or Scale().fitted(pair.human for pair in scored)
    if off := [pair.paper for pair in scored if not (scale.holds(pair.human) and scale.holds(pair.predicted))]:
        raise ValueError(f"points off the scale of {scale.words}: {', '.join(off[:5])}")
    counts = _counts(scored)
    answered = counts.pairs + len(parts.unscored)
    return Agreement(
        scale=scale,
        rounded=_rounded(scored, scale),
        counts=counts,
        accuracy=counts.same / answered if answered else None,
        exact_of=(counts.same, answered),
        unscored=parts.unscored,
        unmarked=parts.unmarked,
        contaminated=parts.contaminated,
        estimates=estimates(scored, scale, draws=draws, seed=seed) if counts.pairs >= FEW else (),
        confusion=_confusion(scored, scale),
        bands=tuple(_band(scored, scale, low, high) for low, high in scale.bands()),
    )


def as_good(grader: Agreement, people: Agreement, slug: str) -> bool | None:
    """Whether the grader's interval overlaps that of two people on the same problems; None where either has none."""
    try:
        ours, theirs = grader.estimate(slug).interval, people.estimate(slug).interval
    except KeyError:
        return None
    return ours.overlaps(theirs) if isinstance(ours, Interval) and isinstance(theirs, Interval) else None


def _counts(pairs: Sequence[Scored]) -> Counts:
    differences = [pair.predicted - pair.human for pair in pairs]
    problems, alone = len({pair.problem for pair in pairs if pair.problem}), sum(not pair.problem for pair in pairs)
    return Counts(
        pairs=len(pairs),
        problems=problems,
        clusters=len(pairs) if problems + alone == 1 else problems + alone,
        same=sum(abs(d) < CLOSE for d in differences),
        within_one=sum(abs(d) <= 1 + CLOSE for d in differences),
        within_two=sum(abs(d) <= 2 + CLOSE for d in differences),
        over=sum(d >= CLOSE for d in differences),
        under=sum(d <= -CLOSE for d in differences),
    )


def _rounded(pairs: Sequence[Scored], scale: Scale) -> int:
    points = np.array([points for pair in pairs for points in (pair.human, pair.predicted)])
    return int((np.abs(scale.rounded(points) - points) > CLOSE).sum()) if len(points) else 0


def _confusion(pairs: Sequence[Scored], scale: Scale) -> tuple[Cell, ...]:
    """The cells that are not empty, in the order of the person's category, then the other's."""
    rows = scale.rounded(np.array([pair.human for pair in pairs]))
    columns = scale.rounded(np.array([pair.predicted for pair in pairs]))
    papers: dict[tuple[float, float], list[str]] = {}
    for pair, row, column in zip(pairs, rows.tolist(), columns.tolist(), strict=True):
        papers.setdefault((row, column), []).append(pair.paper)
    in_row: dict[float, int] = {}
    for (row, _), names in papers.items():
        in_row[row] = in_row.get(row, 0) + len(names)
    return tuple(
        Cell(human=row, predicted=column, count=len(names), share=len(names) / in_row[row], papers=tuple(names))
        for (row, column), names in sorted(papers.items())
    )


def _band(pairs: Sequence[Scored], scale: Scale, low: float, high: float) -> Band:
    rows = scale.rounded(np.array([pair.human for pair in pairs])).tolist()
    inside = [pair for pair, row in zip(pairs, rows, strict=True) if low - CLOSE <= row <= high + CLOSE]
    differences = [pair.predicted - pair.human for pair in inside]
    enough = len(inside) >= FEW
    return Band(
        low=low,
        high=high,
        counts=_counts(inside),
        bias=sum(differences) / len(inside) if enough else None,
        mae=sum(map(abs, differences)) / len(inside) if enough else None,
    )


def points_or_unscored(points: float, scale: Scale) -> float | Unscored:
    """A prediction off the scale is no prediction."""
    return points if scale.holds(points) else Unscored(reason=f"{points:g} is not from {scale.lowest:g} to {scale.highest:g}")
