"""Two rows by problem: their difference, and the problems whose mean score differs, largest difference first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Shown:
    """The score of one repeat in percent, "–" without one. `url`: its run, "" if the reader may not see it."""

    repeat: int
    text: str
    url: str = ""


@dataclass(frozen=True)
class Flip:
    """A problem whose mean scores differ. `difference`: left less right, −1 to 1. `more`: repeats that are not listed."""

    problem: str
    number: int
    difference: float
    left: tuple[Shown, ...] = ()
    right: tuple[Shown, ...] = ()
    cells: str = ""
    more: int = 0

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
    urls = {tuple(place): reverse("explorations:run_detail", args=[run]) for *place, run in cells.values_list(*fields)}
    page = reverse("experiments:cells", args=[experiment.public_id])
    return [
        Flip(
            flip.problem,
            flip.number,
            flip.difference,
            left=_shown(flip, left, urls),
            right=_shown(flip, right, urls),
            cells=f"{page}?{urlencode({'problem': flip.problem})}",
            more=max(0, left.scores.shape[1] - REPEATS),
        )
        for flip in flips
    ]


def _shown(flip: Flip, row: Row, urls: Mapping[tuple[object, ...], str]) -> tuple[Shown, ...]:
    return tuple(
        Shown(repeat, "–" if np.isnan(score) else f"{100 * score:.0f}", urls.get((*row.key, flip.problem, repeat), ""))
        for repeat, score in enumerate(row.scores[flip.number][:REPEATS])
    )
