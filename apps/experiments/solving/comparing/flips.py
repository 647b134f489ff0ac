"""Two rows by problem: their difference, and the problems whose mean score differs, largest difference first."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.urls import reverse
from django.utils.http import urlencode

from apps.accounts.models import User
from apps.experiments.models import Experiment
from apps.experiments.solving.tables import Row
from apps.reasoning.statistics.scores import CLOSE
from apps.runs.access import run_visible_to

#: Repeats whose scores are listed; more are behind a link.
REPEATS = 8
#: Visible runs by method, team, budget, problem and repeat.
Runs = Mapping[tuple[object, ...], uuid.UUID]


@dataclass(frozen=True)
class Shown:
    """The score of one repeat in percent, "–" without one. `url`: its run, "" if the reader may not see it."""

    repeat: int
    text: str
    url: str = ""


@dataclass(frozen=True)
class Repeats:
    """Scores of one row on a problem. `more`: repeats that are not listed; `cells`: the address of all of them."""

    shown: tuple[Shown, ...]
    more: int
    cells: str


@dataclass(frozen=True)
class Flip:
    """A problem whose mean scores differ. `difference`: left less right, −1 to 1. `number`: its place among the problems.

    `runs`: the address that compares a run of each row, "" if the reader may not see two.
    """

    problem: str
    number: int
    difference: float
    left: Repeats | None = None
    right: Repeats | None = None
    runs: str = ""

    @property
    def points(self) -> str:
        return f"{100 * self.difference:+.1f}".replace("-", "−")

    @property
    def begins(self) -> str:
        """Left end of its bar in percent of the width, whose middle is no difference."""
        return f"{50 + 50 * min(0.0, self.difference):.1f}%"

    @property
    def share(self) -> str:
        return f"{50 * abs(self.difference):.1f}%"


def flips_of(problems: Sequence[str], left: Row, right: Row) -> list[Flip]:
    """The problems that have scores in both rows and differ in their means."""
    found = []
    for number, name in enumerate(problems):
        sides = [scores[~np.isnan(scores)] for scores in (left.scores[number], right.scores[number])]
        if all(len(side) for side in sides) and abs(apart := float(sides[0].mean() - sides[1].mean())) > CLOSE:
            found.append(Flip(name, number, apart))
    return sorted(found, key=lambda flip: (-abs(flip.difference), flip.number))


def flips_filled(user: User, experiment: Experiment, flips: Sequence[Flip], left: Row, right: Row) -> list[Flip]:
    """The same flips with the scores of both rows by repeat and addresses of runs. Two queries for all of them."""
    names = [flip.problem for flip in flips]
    cells = experiment.solving_cells.order_by().filter(item__name__in=names, repeat__lt=REPEATS)
    cells = cells.filter(run__in=run_visible_to(user))
    fields = ("method", "team", "budget", "item__name", "repeat", "run__public_id")
    runs: Runs = {tuple(place): run for *place, run in cells.values_list(*fields)}
    page = reverse("experiments:cells", args=[experiment.public_id])
    return [
        replace(
            flip,
            left=_repeats(flip, left, runs, page),
            right=_repeats(flip, right, runs, page),
            runs=_compared(flip, left, right, runs),
        )
        for flip in flips
    ]


def runs_compared(runs: Sequence[str]) -> str:
    """The address of the page that compares these runs."""
    return f"{reverse('explorations:run_compare')}?{urlencode([('run', run) for run in runs])}"


def _compared(flip: Flip, left: Row, right: Row, runs: Runs) -> str:
    """The address that compares two runs: of the first repeat whose scores differ, else of the first one with two runs."""
    scores = left.scores[flip.number], right.scores[flip.number]
    pairs = []
    for repeat, (one, other) in enumerate(zip(scores[0][:REPEATS], scores[1][:REPEATS], strict=False)):
        found = [runs.get((*row.key, flip.problem, repeat)) for row in (left, right)]
        if found[0] and found[1] and found[0] != found[1]:
            pairs.append((not abs(one - other) > CLOSE, repeat, [str(run) for run in found]))
    return runs_compared(min(pairs)[2]) if pairs else ""


def _repeats(flip: Flip, row: Row, runs: Runs, page: str) -> Repeats:
    scores = row.scores[flip.number]
    shown = tuple(
        Shown(repeat, "–" if np.isnan(score) else f"{100 * score:.0f}", _url(runs.get((*row.key, flip.problem, repeat))))
        for repeat, score in enumerate(scores[:REPEATS])
    )
    query = urlencode({"problem": flip.problem, "method": row.method, "team": row.team, "budget": str(row.budget)})
    return Repeats(shown, max(0, len(scores) - REPEATS), f"{page}?{query}")


def _url(run: uuid.UUID | None) -> str:
    return reverse("explorations:run_detail", args=[run]) if run else ""
