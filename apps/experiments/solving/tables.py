"""The table of an experiment on solving: by method, team and budget, the scores of each scorer with their costs.

Rows are plain numbers for pages, files and the terminal; intervals come from `apps.reasoning.statistics`.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from django.db.models import F, FloatField
from django.db.models.functions import Cast

from apps.experiments.models import CellScore, Experiment, SolvingState
from apps.experiments.solving.manifest import Manifest, Price
from apps.experiments.solving.scoring import is_outside, is_without_answer
from apps.experiments.solving.services import manifest_stored
from apps.reasoning.scaffolds.spec import money_of as cost_of
from apps.reasoning.statistics.intervals import Floats

Bools = npt.NDArray[np.bool_]


@dataclass
class Row:
    """One method with its team and budget. `cells` counts states, `unscored` reasons; costs are means over finished cells.

    `scores`: shares of the scale in an array (problems, repeats), NaN where there is none. `without`: cells that are unscored
    because they gave no answer that could be compared, `missing`: all unscored cells, in arrays like it. `outside`: whether the
    scorer can score no cell of a problem. `states` counts by problem. `over`: by unit the number of cells that used more than
    their budget, and the most that one used. `has_costs`: False for results that were imported without any. `money` is None
    without a price for each model.
    """

    method: str
    team: str
    budget: int
    scores: Floats
    kind: str = ""
    cells: Counter[str] = field(default_factory=Counter)
    unscored: Counter[str] = field(default_factory=Counter)
    without: Bools = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    missing: Bools = field(default_factory=lambda: np.zeros((0, 0), np.bool_))
    outside: Bools = field(default_factory=lambda: np.zeros(0, np.bool_))
    states: list[Counter[str]] = field(default_factory=list)
    over: dict[str, tuple[int, float]] = field(default_factory=dict)
    has_costs: bool = True
    calls: float = 0.0
    tokens: float = 0.0
    written: float = 0.0
    seconds: float = 0.0
    money: float | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        return self.method, self.team, self.budget

    @property
    def scored(self) -> int:
        return int((~np.isnan(self.scores)).sum())

    @property
    def counting_none(self) -> "Row":
        """The row with 0 for cells that gave no comparable answer, as the papers count them."""
        counted = Counter(
            {reason: count for reason, count in self.unscored.items() if not is_without_answer(reason, self.kind)}
        )
        missing = self.missing & ~self.without
        return replace(self, scores=np.where(self.without, 0.0, self.scores), missing=missing, unscored=counted)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The means with the lowest and with the highest score for all unscored cells; None if there is none."""
        if not self.missing.any():
            return None
        low, high = (replace(self, scores=np.where(self.missing, score, self.scores)).mean for score in (0.0, 1.0))
        return (low, high) if low is not None and high is not None else None

    @property
    def means(self) -> list[float | None]:
        """The mean score on each problem; None without a score."""
        found = (row[~np.isnan(row)] for row in self.scores)
        return [float(row.mean()) if len(row) else None for row in found]

    @property
    def mean(self) -> float | None:
        """The mean over problems of their mean scores; None without a score."""
        if not self.scored:
            return None
        kept = self.scores[~np.isnan(self.scores).all(axis=1)]
        return float(np.nanmean(kept, axis=1).mean())


class _Cell(NamedTuple):
    pk: int
    problem: str
    method: str
    team: str
    budget: int
    repeat: int
    state: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    by_alias: dict[str, list[int]] | None = None


_FIELDS = ("pk", "item__name", *_Cell._fields[2:])


def rows_of(experiment: Experiment, scorer: str, hidden: Set[int] = frozenset()) -> tuple[list[str], list[Row]]:
    """The names of the problems, and the rows in the order of the manifest. `hidden`: items of the set that are left out."""
    manifest = manifest_stored(experiment)
    fields = _FIELDS if manifest.prices else _FIELDS[:-1]
    shown = experiment.solving_cells.exclude(item__in=hidden).order_by("position")
    cells = [_Cell(*values) for values in shown.values_list(*fields)]
    problems, kind = list(dict.fromkeys(cell.problem for cell in cells)), kind_of(manifest, scorer)
    known = {(cell.method, cell.team, cell.budget) for cell in cells}
    empty = rows_empty(manifest, len(problems))
    rows = {key: row for key, row in empty.items() if key in known or key[0] not in manifest.external}
    place = {name: number for number, name in enumerate(problems)}
    scores, ended = _scores(experiment, scorer), defaultdict(list)
    for cell in cells:
        key = cell.method, cell.team, cell.budget
        row, problem = rows[key], place[cell.problem]
        if cell.state == SolvingState.FINISHED:
            ended[key].append(cell)
        row.cells[cell.state] += 1
        row.states[problem][cell.state] += 1
        points, reason = scores.get(cell.pk, (None, ""))
        if points is not None:
            row.scores[problem, cell.repeat] = points
        elif reason:
            row.unscored[reason] += 1
            row.outside[problem] |= is_outside(reason)
            row.without[problem, cell.repeat] = is_without_answer(reason, kind)
            row.missing[problem, cell.repeat] = not is_outside(reason)
    for row in rows.values():
        row.kind = kind
        _add_costs(row, ended[row.key], manifest)
    return problems, list(rows.values())


def rows_empty(manifest: Manifest, problems: int) -> dict[tuple[str, str, int], Row]:
    """By method, team and budget, the rows without scores, in the order of the manifest."""
    keys = product((one.name for one in manifest.methods), (one.name for one in manifest.teams), range(len(manifest.budgets)))
    shape = problems, manifest.repeats
    return {
        key: Row(
            *key,
            np.full(shape, np.nan),
            without=np.zeros(shape, np.bool_),
            missing=np.zeros(shape, np.bool_),
            outside=np.zeros(problems, np.bool_),
            states=[Counter() for _ in range(problems)],
        )
        for key in keys
    }


def kind_of(manifest: Manifest, scorer: str) -> str:
    """The kind of a scorer; "" for an unknown one."""
    return next((one.kind for one in manifest.scorers if one.name == scorer), "")


def _add_costs(row: Row, ended: Sequence[_Cell], manifest: Manifest) -> None:
    if not ended:
        return
    budget = manifest.budgets[row.budget]
    row.has_costs = any(cell.calls or cell.completion_tokens for cell in ended)
    row.calls = sum(cell.calls for cell in ended) / len(ended)
    row.written = sum(cell.completion_tokens for cell in ended) / len(ended)
    row.tokens = row.written + sum(cell.prompt_tokens for cell in ended) / len(ended)
    row.seconds = sum(cell.seconds for cell in ended) / len(ended)
    paid = [money_of(cell.by_alias, manifest.prices) for cell in ended]
    known = [money for money in paid if money is not None]
    row.money = sum(known) / len(known) if known and len(known) == len(paid) else None
    tokens = [float(cell.prompt_tokens + cell.completion_tokens) for cell in ended]
    for unit, limit, used in (("tokens", budget.tokens, tokens), ("money", budget.money, known)):
        if more := [amount for amount in used if limit is not None and amount > limit]:
            row.over[unit] = len(more), max(more)


def money_of(by_alias: Mapping[str, Sequence[int]] | None, prices: Mapping[str, Price]) -> float | None:
    """What a cell cost; None if a model has no price or the use is unknown. Tools use no tokens, so they cost nothing."""
    if not prices or by_alias is None:
        return None
    paid = {alias: use for alias, use in by_alias.items() if alias in prices or any(use[1:3])}
    return cost_of(paid, prices) if set(paid) <= set(prices) else None


def _scores(experiment: Experiment, scorer: str) -> dict[int, tuple[float | None, str]]:
    """By cell: the share of the scale of what it handed in, or why there is none."""
    rows = CellScore.objects.filter(cell__experiment=experiment, scorer=scorer, state__in=("scored", "unscored"))
    share = Cast("points", FloatField()) / Cast("scale", FloatField())
    values = rows.filter(answer=F("cell__answer")).values_list("cell", share, "unscored")
    return {cell: (points, unscored) for cell, points, unscored in values}
