"""The row model of all files: one row a cell, and one a score of an answer. Plain values only."""

from collections.abc import Iterator, Set
from decimal import Decimal
from typing import NamedTuple

from apps.experiments.models import CellScore, Experiment, SolvingCell
from apps.experiments.solving.matrix import Place, seed_of
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import money_of

AT_ONCE = 1_000
ALL = slice(None)


class CellRow(NamedTuple):
    """A cell. `budget` and `repeat` are numbers from 0; the limits are empty where there is none.

    `answer`: id of the proof or candidate in the run. `accepted`: the method's own verdict. Costs are tokens, seconds, and
    money in `currency`, which is empty without a price of each model.
    """

    cell: str
    problem: str
    split: str
    method: str
    team: str
    budget: int
    limit_tokens: int | None
    limit_calls: int | None
    limit_seconds: float | None
    limit_money: float | None
    repeat: int
    seed: int
    state: str
    trouble: str
    answer: str
    accepted: bool | None
    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    money: float | None
    currency: str
    taken_over: bool
    run: str
    ended_at: str


class ScoreRow(NamedTuple):
    """A score of an answer of a cell. `share` is points divided by scale; empty, with the `reason`, if it is unscored.

    `handed_in`: whether the cell ended with this answer. False: the answer was held only at a smaller budget.
    """

    cell: str
    problem: str
    method: str
    team: str
    budget: int
    repeat: int
    scorer: str
    answer: str
    handed_in: bool
    state: str
    points: float | None
    scale: float | None
    share: float | None
    reason: str
    run: str


def cell_rows(experiment: Experiment, hidden: Set[int], part: slice = ALL) -> Iterator[CellRow]:
    """The cells in their order, without those on the items `hidden`; `part`: which of these."""
    manifest = manifest_stored(experiment)
    cells = experiment.solving_cells.exclude(item__in=hidden).select_related("item", "run").order_by("position")
    for cell in cells.defer("run__spec", "run__outcome")[part].iterator(chunk_size=AT_ONCE):
        limits = manifest.budgets[cell.budget]
        yield CellRow(
            cell=str(cell.public_id),
            problem=cell.item.name,
            split=cell.item.split,
            method=cell.method,
            team=cell.team,
            budget=cell.budget,
            limit_tokens=limits.tokens,
            limit_calls=limits.calls,
            limit_seconds=limits.seconds,
            limit_money=limits.money,
            repeat=cell.repeat,
            seed=seed_of(manifest, place_of(cell)),
            state=cell.state,
            trouble=cell.trouble,
            answer=cell.answer,
            accepted=cell.accepted,
            calls=cell.calls,
            prompt_tokens=cell.prompt_tokens,
            completion_tokens=cell.completion_tokens,
            seconds=round(cell.seconds, 3),
            money=money_of(cell.by_alias, manifest.prices),
            currency=manifest.currency,
            taken_over=cell.taken_over,
            run=str(cell.run.public_id) if cell.run else "",
            ended_at=cell.ended_at.isoformat() if cell.ended_at else "",
        )


def score_rows(experiment: Experiment, hidden: Set[int], part: slice = ALL) -> Iterator[ScoreRow]:
    """The scores in the order of their cells, without those on the items `hidden`; `part`: which of these."""
    scores = CellScore.objects.filter(cell__experiment=experiment).exclude(cell__item__in=hidden)
    scores = scores.select_related("cell__item", "run").defer("run__spec", "run__outcome")
    for score in scores.order_by("cell__position", "pk")[part].iterator(chunk_size=AT_ONCE):
        cell = score.cell
        yield ScoreRow(
            cell=str(cell.public_id),
            problem=cell.item.name,
            method=cell.method,
            team=cell.team,
            budget=cell.budget,
            repeat=cell.repeat,
            scorer=score.scorer,
            answer=score.answer,
            handed_in=score.answer == cell.answer,
            state=score.state,
            points=_number(score.points),
            scale=_number(score.scale),
            share=share_of(score),
            reason=score.unscored or score.trouble,
            run=str(score.run.public_id) if score.run else "",
        )


def place_of(cell: SolvingCell) -> Place:
    """The place of a cell, with its item read."""
    return Place(cell.item.name, cell.method, cell.team, cell.budget, cell.repeat)


def share_of(score: CellScore) -> float | None:
    """Points divided by scale; None if it is unscored."""
    return float(score.points / score.scale) if score.points is not None and score.scale else None


def _number(value: Decimal | None) -> float | None:
    return None if value is None else float(value)
