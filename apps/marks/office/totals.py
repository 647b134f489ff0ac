"""Statistics over whole papers: the distribution of all totals, also of models, and the correlation between problems."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from statistics import fmean, median, pstdev

from apps.contests.models import ContestProblem
from apps.marks.office.office import ResultList
from apps.marks.office.statistics import MEANS_FROM, correlation
from apps.reasoning.marking.schemes.scheme import points_text

#: Most bars of the totals; more totals share a bar.
BINS_AT_MOST = 21


@dataclass(frozen=True)
class Bin:
    """The papers whose totals begin at `low`, a whole number, and stay below the next bin. `words`: "12", "12–14"."""

    low: int
    words: str
    papers: int


@dataclass(frozen=True)
class Pair:
    """The correlation of the points of two problems on papers with points for both; None for few or constant points."""

    one: ContestProblem
    other: ContestProblem
    papers: int
    value: float | None


@dataclass(frozen=True)
class TotalFigures:
    """The totals of the papers that have one. Means are None for fewer than `MEANS_FROM`."""

    ranked: int
    unranked: int
    mean: float | None
    middle: float | None
    spread: float | None
    bins: list[Bin]
    pairs: list[Pair]


def total_figures(found: ResultList) -> TotalFigures:
    """Statistics of a list of results."""
    totals = [row.total for row in found.rows if row.total is not None]
    values = [float(total) for total in totals]
    is_enough = len(values) >= MEANS_FROM
    return TotalFigures(
        ranked=len(totals),
        unranked=len(found.rows) - len(totals),
        mean=fmean(values) if is_enough else None,
        middle=median(values) if is_enough else None,
        spread=pstdev(values) if is_enough else None,
        bins=bins_of(totals),
        pairs=[_pair(found, one, other) for one, other in combinations(range(len(found.problems)), 2)],
    )


def bins_of(totals: Sequence[Decimal]) -> list[Bin]:
    """Bars of equal whole width from 0 to the highest total."""
    if not totals:
        return []
    count = int(max(totals)) + 1
    width = math.ceil(count / BINS_AT_MOST)
    has_halves = any(total % 1 for total in totals)
    return [
        Bin(low, _words(low, width, has_halves), sum(low <= total < low + width for total in totals))
        for low in range(0, count, width)
    ]


def _words(low: int, width: int, has_halves: bool) -> str:
    last = low + width - (Decimal("0.5") if has_halves else 1)
    return str(low) if last == low else f"{low}–{points_text(Decimal(last))}"


def _pair(found: ResultList, one: int, other: int) -> Pair:
    both = [(row.points[one], row.points[other]) for row in found.rows]
    pairs = [(float(x), float(y)) for x, y in both if x is not None and y is not None]
    return Pair(found.problems[one], found.problems[other], len(pairs), correlation(pairs))
