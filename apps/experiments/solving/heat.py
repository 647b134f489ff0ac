"""The heat map of an experiment on solving: problems and rows of the table, in which each square leads to its cells."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from django.urls import reverse
from django.utils.http import urlencode

from apps.experiments.models import Experiment
from apps.experiments.solving.tables import Row

SHADES = 5


@dataclass(frozen=True)
class Square:
    """A place of the heat map: the repeats of one row on one problem. `shade` 0 to 4 by mean score, None without a score."""

    url: str
    text: str
    title: str
    shade: int | None
    state: str


def squares_of(
    experiment: Experiment, problems: Sequence[str], rows: Sequence[Row], names: Sequence[str], hidden: Set[str]
) -> list[tuple[str, list[Square]]]:
    """By problem that is not hidden, the squares of all rows. `names`: those of the rows."""
    url = reverse("experiments:cells", args=[experiment.public_id])
    return [
        (problem, [_square(url, problem, name, row, number) for name, row in zip(names, rows, strict=True)])
        for number, problem in enumerate(problems)
        if problem not in hidden
    ]


def _square(url: str, problem: str, name: str, row: Row, number: int) -> Square:
    states = row.states[number]
    scores = [score for score in row.scores[number] if score == score]
    mean = sum(scores) / len(scores) if scores else None
    query = urlencode([("problem", problem), ("method", row.method), ("team", row.team), ("budget", str(row.budget))])
    worst = next((state for state in ("running", "waiting", "failed", "cancelled") if states[state]), "finished")
    counted = ", ".join(f"{count} {state}" for state, count in states.items())
    text = "" if mean is None else f"{100 * mean:.0f}"
    title = f"{problem}, {name}: {f'{text} % of {len(scores)} scores' if text else 'no score'}; {counted}"
    return Square(f"{url}?{query}", text, title, None if mean is None else min(SHADES - 1, int(mean * SHADES)), worst)
