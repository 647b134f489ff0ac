"""Scores of rows at smaller budgets, and which rows are on the Pareto front of score against cost."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import FloatField
from django.db.models.functions import Cast

from apps.experiments.models import CellScore, Experiment, SolvingState
from apps.experiments.solving.manifest import Price
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import Row, money_of, rows_empty
from apps.reasoning.statistics.intervals import Floats, Interval
from apps.reasoning.statistics.means import interval
from apps.reasoning.statistics.metrics import Measure, average
from apps.reasoning.statistics.scores import Scores

#: Units by their name in addresses, with their place in `SolvingCell.handed` and their title.
UNITS = {
    "written": (1, "tokens written"),
    "tokens": (2, "all tokens"),
    "calls": (0, "calls"),
    "seconds": (3, "seconds of calls"),
}
MONEY = "money"
POINTS = 32
#: The least budget of a curve, where a first answer cost nothing.
_LEAST = 1e-3
_LEAST_MONEY = 1e-9
#: Places of a row of `SolvingCell.handed` that has its use by alias.
_WITH_ALIASES = 6


@dataclass(frozen=True)
class Point:
    """The mean score at a budget, with the ends of its interval where there are enough problems."""

    budget: float
    score: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Curve:
    """Scores of a row by budget, ascending, up to the most that a cell of it used. `cells`: how many are behind it.

    `unpriced`: cells that are left out, because it is not known what their answers cost.
    """

    row: Row
    cells: int
    points: tuple[Point, ...]
    unpriced: int = 0

    def at(self, budget: float) -> Point | None:
        """The point of the largest budget that is not above; None before the first."""
        return next((point for point in reversed(self.points) if point.budget <= budget), None)


@dataclass(frozen=True)
class _Course:
    """What one cell handed in: `uses` ascending, and the score from each use on. `used`: its whole use."""

    problem: int
    repeat: int
    uses: Floats
    scores: Floats
    used: float


def curves_of(experiment: Experiment, scorer: str, unit: str) -> list[Curve]:
    """Curves of all rows. `unit`: one of `UNITS` or `MONEY`.

    A cell whose last answer is unscored does not count; before its first answer a cell scores 0. So a curve
    ends at the mean of the table, and begins at 0.
    """
    manifest = manifest_stored(experiment)
    cells = experiment.solving_cells.filter(state=SolvingState.FINISHED, handed__isnull=False)
    names = list(dict.fromkeys(experiment.solving_cells.order_by("position").values_list("item__name", flat=True)))
    place = {name: number for number, name in enumerate(names)}
    scores = _scores(experiment, scorer)
    courses: dict[tuple[str, str, int], list[_Course | None]] = {}
    fields = ("pk", "item__name", "method", "team", "budget", "repeat", "answer", "handed", *_USED[unit])
    for pk, name, method, team, budget, repeat, answer, handed, *used in cells.values_list(*fields):
        final = scores.get((pk, answer), np.nan)
        if handed and not np.isnan(final):
            uses = [*(use_of(row, unit, manifest.prices) for row in handed), _whole(used, unit, manifest.prices)]
            course = _course(pk, handed, uses, scores, place[name], repeat)
            courses.setdefault((method, team, budget), []).append(course)
    rows = rows_empty(manifest, len(names))
    least = _LEAST_MONEY if unit == MONEY else _LEAST
    return [_curve(row, names, courses.get(key, []), least) for key, row in rows.items()]


_USED = {
    "written": ("completion_tokens",),
    "tokens": ("prompt_tokens", "completion_tokens"),
    "calls": ("calls",),
    "seconds": ("seconds",),
    MONEY: ("by_alias",),
}


def use_of(row: Sequence[Any], unit: str, prices: Mapping[str, Price]) -> float | None:
    """What a row of `handed` used in a unit; None if that is not known."""
    if unit != MONEY:
        return float(row[UNITS[unit][0]])
    return money_of(row[-2], prices) if len(row) == _WITH_ALIASES else None


def _whole(used: Sequence[Any], unit: str, prices: Mapping[str, Price]) -> float | None:
    """What a whole cell used, from its fields of `_USED`."""
    return money_of(used[0], prices) if unit == MONEY else float(sum(used))


def _course(
    pk: int,
    handed: Sequence[Sequence[Any]],
    used: Sequence[float | None],
    scores: Mapping[tuple[int, str], float],
    problem: int,
    repeat: int,
) -> _Course | None:
    """The course of a cell. `used`: the use at each row of `handed`, and of the whole cell. None if one is not known."""
    known = [one for one in used if one is not None]
    if len(known) < len(used):
        return None
    uses = np.array([0.0, *known[:-1]])
    found = [0.0, *(0.0 if not row[-1] else scores.get((pk, str(row[-1])), np.nan) for row in handed)]
    return _Course(problem, repeat, uses, np.array(found), max(known[-1], float(uses[-1])))


def _curve(row: Row, names: Sequence[str], found: Sequence[_Course | None], least: float) -> Curve:
    courses = [course for course in found if course is not None]
    if not courses:
        return Curve(row, 0, (), len(found))
    first = max(least, min(float(course.uses[1]) for course in courses))
    budgets = np.unique(np.geomspace(first, max(first, *(course.used for course in courses)), POINTS))
    tables = np.full((len(budgets), *row.scores.shape), np.nan)
    for course in courses:
        last = np.searchsorted(course.uses, budgets * (1 + 1e-9), "right") - 1
        tables[:, course.problem, course.repeat] = course.scores[last]
    points = [_point(float(budget), names, table) for budget, table in zip(budgets, tables, strict=True)]
    kept = tuple(point for point in points if point is not None)
    return Curve(row, len(courses), kept, len(found) - len(courses))


def _point(budget: float, names: Sequence[str], table: Floats) -> Point | None:
    kept = np.flatnonzero(~np.isnan(table).all(axis=1)).tolist()
    measure = average(Scores.of([names[number] for number in kept], table[kept])) if kept else None
    if not isinstance(measure, Measure):
        return None
    around = interval(measure)
    ends = (around.low, around.high) if isinstance(around, Interval) else (None, None)
    return Point(budget, measure.value, *ends)


def _scores(experiment: Experiment, scorer: str) -> dict[tuple[int, str], float]:
    """By cell and answer: the share of the scale."""
    rows = CellScore.objects.filter(cell__experiment=experiment, scorer=scorer, state=CellScore.State.SCORED)
    share = Cast("points", FloatField()) / Cast("scale", FloatField())
    return {(cell, answer): found for cell, answer, found in rows.values_list("cell", "answer", share)}


def front(costs: Sequence[float], scores: Sequence[float]) -> list[int]:
    """The numbers of the rows that no other row beats: none is as good or better at the same or a lower cost, and differs."""
    return [
        one
        for one, (cost, score) in enumerate(zip(costs, scores, strict=True))
        if not any(
            other_cost <= cost and other_score >= score and (other_cost, other_score) != (cost, score)
            for other_cost, other_score in zip(costs, scores, strict=True)
        )
    ]
