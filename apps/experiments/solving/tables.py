"""The table of an experiment on solving: by method, team and budget, the scores of each scorer with their costs.

Rows are plain numbers for pages, files and the terminal; intervals come from `apps.reasoning.statistics`.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from apps.experiments.models import CellScore, Experiment, SolvingState
from apps.experiments.solving.services import manifest_stored
from apps.reasoning.statistics.intervals import Floats


@dataclass
class Row:
    """One method with its team and budget. `cells` counts states, `unscored` reasons; costs are means over finished cells.

    `scores`: shares of the scale in an array (problems, repeats), NaN where there is none.
    """

    method: str
    team: str
    budget: int
    scores: Floats
    cells: Counter[str] = field(default_factory=Counter)
    unscored: Counter[str] = field(default_factory=Counter)
    calls: float = 0.0
    tokens: float = 0.0
    seconds: float = 0.0

    @property
    def key(self) -> tuple[str, str, int]:
        return self.method, self.team, self.budget

    @property
    def scored(self) -> int:
        return int((~np.isnan(self.scores)).sum())

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


_FIELDS = ("pk", "item__name", *_Cell._fields[2:])


def rows_of(experiment: Experiment, scorer: str) -> tuple[list[str], list[Row]]:
    """The names of the problems, and the rows in the order of the manifest."""
    manifest = manifest_stored(experiment)
    cells = [_Cell(*values) for values in experiment.solving_cells.order_by("position").values_list(*_FIELDS)]
    problems = list(dict.fromkeys(cell.problem for cell in cells))
    keys = product((one.name for one in manifest.methods), (one.name for one in manifest.teams), range(len(manifest.budgets)))
    known = {(cell.method, cell.team, cell.budget) for cell in cells}
    rows = {
        key: Row(*key, np.full((len(problems), manifest.repeats), np.nan))
        for key in keys
        if key in known or key[0] not in manifest.external
    }
    place = {name: number for number, name in enumerate(problems)}
    scores, ended = _scores(experiment, scorer), defaultdict(list)
    for cell in cells:
        if cell.state == SolvingState.FINISHED:
            ended[cell.method, cell.team, cell.budget].append(cell)
        row = rows[cell.method, cell.team, cell.budget]
        row.cells[cell.state] += 1
        points, reason = scores.get(cell.pk, (None, ""))
        if points is not None:
            row.scores[place[cell.problem], cell.repeat] = points
        elif reason:
            row.unscored[reason] += 1
    for row in rows.values():
        _add_costs(row, ended[row.key])
    return problems, list(rows.values())


def _add_costs(row: Row, ended: Sequence[_Cell]) -> None:
    if ended:
        row.calls = sum(cell.calls for cell in ended) / len(ended)
        row.tokens = sum(cell.prompt_tokens + cell.completion_tokens for cell in ended) / len(ended)
        row.seconds = sum(cell.seconds for cell in ended) / len(ended)


def _scores(experiment: Experiment, scorer: str) -> dict[int, tuple[float | None, str]]:
    """By cell: the share of the scale of what it handed in, or why there is none."""
    rows = CellScore.objects.filter(cell__experiment=experiment, scorer=scorer, state__in=("scored", "unscored"))
    values = rows.values_list("cell", "answer", "cell__answer", "points", "scale", "unscored")
    return {
        cell: (float(points) / float(scale) if points is not None and scale else None, unscored)
        for cell, answer, final, points, scale, unscored in values
        if answer == final
    }
