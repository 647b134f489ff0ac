"""Variation of each grader's points over repeats, and the error of their mean against people's points."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from apps.experiments.models import CellState, ExperimentCell
from apps.experiments.selectors import with_people
from apps.graders.planning.naming import title_of
from apps.reasoning.agreement.averaging import errors_of_means, sizes
from apps.reasoning.agreement.consistency import Consistency, consistency
from apps.reasoning.domain.values import Unscored

#: Common scale of the table.
SCALE = 7


@dataclass(frozen=True)
class Varied:
    """One grader with its models.

    `errors`: per size k, the mean absolute error of the mean of k repeats, over the `compared` scripts with points by people
    and by every repeat.
    """

    grader: str
    alias: str
    found: Consistency | Unscored
    compared: int
    errors: Sequence[float]

    @property
    def same(self) -> str:
        """The share of scripts with the same points in all repeats."""
        return "" if isinstance(self.found, Unscored) else f"{100 * self.found.same:.0f} %"


@dataclass(frozen=True)
class Repeats:
    """The table. `sizes`: numbers of averaged repeats in `Varied.errors`."""

    count: int
    sizes: tuple[int, ...]
    rows: Sequence[Varied]


def repeats_of(cells: QuerySet[ExperimentCell], seeds: Sequence[int]) -> Repeats | None:
    """The table over these cells; None without repeats."""
    if len(seeds) < 2:
        return None
    points: dict[tuple[str, str], dict[tuple[int | None, int | None], list[float | Unscored]]] = defaultdict(dict)
    people: dict[tuple[int | None, int | None], float] = {}
    ended = with_people(cells.filter(state__in=(CellState.SCORED, CellState.UNSCORED))).order_by("position")
    for cell in ended.only("workflow", "alias", "script", "version", "points", "scale"):
        key = (cell.script_id, cell.version_id)
        given: float | Unscored = Unscored(reason="unscored")
        if cell.points is not None and cell.scale:
            given = SCALE * float(cell.points / cell.scale)
        points[cell.workflow, cell.alias].setdefault(key, []).append(given)
        human, of = getattr(cell, "human", None), getattr(cell, "human_of", None)
        if human is not None and of:
            people[key] = SCALE * float(human) / float(of)
    rows = [_varied(grader, alias, by_script, people, len(seeds)) for (grader, alias), by_script in sorted(points.items())]
    return Repeats(len(seeds), sizes(len(seeds)), rows)


def _varied(
    grader: str,
    alias: str,
    by_script: dict[tuple[int | None, int | None], list[float | Unscored]],
    people: dict[tuple[int | None, int | None], float],
    count: int,
) -> Varied:
    scored = {key: [one for one in given if not isinstance(one, Unscored)] for key, given in by_script.items()}
    whole = [(people[key], given) for key, given in scored.items() if key in people and len(given) == count]
    return Varied(
        title_of(grader), alias, consistency(list(by_script.values())), len(whole), tuple(errors_of_means(whole).values())
    )
