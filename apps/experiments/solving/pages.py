"""Content of an experiment's page: progress, the table with intervals and differences, and the heat map of its cells."""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Sum
from django.urls import reverse
from django.utils.http import urlencode

from apps.experiments.models import CellScore, Experiment, SolvingState
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import Row, rows_of
from apps.reasoning.scaffolds.spec import Budget
from apps.reasoning.statistics.differences import Difference, difference, holm, sentence
from apps.reasoning.statistics.intervals import Interval
from apps.reasoning.statistics.means import interval
from apps.reasoning.statistics.metrics import Measure, average
from apps.reasoning.statistics.scores import Scores

SHADES = 5
_QUOTED = re.compile(r"“[^”]*”")
NO_SCORER = "The manifest has no scorer. Add one, and the finished cells are scored without asking a model again."


@dataclass(frozen=True)
class Line:
    """A row of the table. `mean` and `interval` in percent; `why` there is none; `against`: the sentence about the baseline."""

    row: Row
    name: str
    mean: str
    interval: str
    why: str
    against: str
    reasons: tuple[tuple[str, int], ...]
    is_baseline: bool

    @property
    def unscored(self) -> int:
        return sum(count for _, count in self.reasons)


@dataclass(frozen=True)
class Square:
    """A place of the heat map: the repeats of one row on one problem. `shade` 0 to 4 by mean score, None without a score."""

    url: str
    text: str
    title: str
    shade: int | None
    state: str


def page_of(experiment: Experiment, scorer: str, hidden: Set[int]) -> dict[str, Any]:
    """The context of the page for a scorer; the first one of the manifest if `scorer` is none of them.

    `hidden`: items of the set that the map leaves out, because they are held back from the reader.
    """
    manifest = manifest_stored(experiment)
    names = [one.name for one in manifest.scorers]
    chosen = scorer if scorer in names else next(iter(names), "")
    problems, rows = rows_of(experiment, chosen)
    lines = lines_of(manifest, problems, rows)
    return {
        "manifest": manifest,
        "progress": progress_of(experiment),
        "scorers": names,
        "scorer": chosen,
        "no_scorer": "" if names else NO_SCORER,
        "lines": lines,
        "heads": [line.name for line in lines],
        "squares": squares_of(experiment, problems, rows, hidden),
        "problems": len(problems),
        "hidden": len(hidden),
    }


def progress_of(experiment: Experiment) -> dict[str, Any]:
    """Numbers of cells by state, and what the runs that were made for it cost."""
    rows = experiment.solving_cells.order_by().values_list("state").annotate(count=Count("pk"))
    counts = Counter(dict(rows))
    own = experiment.solving_cells.filter(taken_over=False)
    spent = own.aggregate(calls=Sum("calls"), prompt=Sum("prompt_tokens"), completion=Sum("completion_tokens"))
    open_ = counts[SolvingState.WAITING] + counts[SolvingState.RUNNING]
    graded = CellScore.objects.filter(cell__experiment=experiment).order_by().values_list("state").annotate(count=Count("pk"))
    scores = Counter(dict(graded))
    return {
        "again": counts[SolvingState.FAILED] + scores[CellScore.State.FAILED],
        "ungraded": scores[CellScore.State.FAILED],
        "grading": scores[CellScore.State.WAITING] + scores[CellScore.State.RUNNING],
        "total": counts.total(),
        "ended": counts.total() - open_,
        "running": counts[SolvingState.RUNNING],
        "failed": counts[SolvingState.FAILED],
        "taken_over": experiment.solving_cells.filter(taken_over=True).count(),
        "calls": spent["calls"] or 0,
        "tokens": (spent["prompt"] or 0) + (spent["completion"] or 0),
    }


def lines_of(manifest: Manifest, problems: Sequence[str], rows: Sequence[Row]) -> list[Line]:
    """The table. Differences are to the baseline, paired by problem, with Holm's correction over all rows."""
    measures = [_measure(problems, row) for row in rows]
    names = [name_of(manifest, row) for row in rows]
    base = next((number for number, row in enumerate(rows) if row.method == manifest.baseline), None)
    said = _against(names, measures, base)
    lines = []
    for number, row in enumerate(rows):
        measure = measures[number]
        around = interval(measure) if measure else None
        lines.append(
            Line(
                row=row,
                name=names[number],
                mean="" if row.mean is None else f"{100 * row.mean:.1f} %",
                interval=f"{100 * around.low:.1f} to {100 * around.high:.1f}" if isinstance(around, Interval) else "",
                why="" if around is None or isinstance(around, Interval) else around.reason,
                against=said.get(number, ""),
                reasons=_reasons(row),
                is_baseline=number == base,
            )
        )
    return lines


def _reasons(row: Row) -> tuple[tuple[str, int], ...]:
    """Reasons with their counts, most frequent first, without what they quote from single answers."""
    counts: Counter[str] = Counter()
    for reason, count in row.unscored.items():
        first = re.split("[;:]", _QUOTED.sub("an answer", reason))[0].rstrip(".")
        counts[f"{first[:1].lower()}{first[1:]}"] += count
    return tuple(counts.most_common())


def _measure(problems: Sequence[str], row: Row) -> Measure | None:
    """The mean over the problems that have a score; the others do not count."""
    kept = [number for number, scores in enumerate(row.scores) if (scores == scores).any()]
    found = average(Scores.of([problems[number] for number in kept], row.scores[kept])) if kept else None
    return found if isinstance(found, Measure) else None


def _against(names: Sequence[str], measures: Sequence[Measure | None], base: int | None) -> dict[int, str]:
    """By row, what may be said of it and the baseline."""
    theirs = measures[base] if base is not None else None
    if base is None or theirs is None:
        return {}
    others = {number: one for number, one in enumerate(measures) if number != base and one is not None}
    found = {number: difference(one, theirs, comparisons=len(others)) for number, one in others.items()}
    tested = {number: one for number, one in found.items() if isinstance(one, Difference)}
    adjusted = dict(zip(tested, holm([one.p_value for one in tested.values()]), strict=True))
    return {number: sentence(one, names[number], names[base], adjusted=adjusted.get(number)) for number, one in found.items()}


def name_of(manifest: Manifest, row: Row) -> str:
    """Method, team and budget of a row; only what differs between rows."""
    if row.method in manifest.external:
        return row.method
    parts = [row.method]
    parts += [row.team] if len(manifest.teams) > 1 else []
    parts += [budget_words(manifest.budgets[row.budget])] if len(manifest.budgets) > 1 else []
    return " · ".join(parts)


def budget_words(budget: Budget) -> str:
    """A budget as text."""
    limits = [f"{value:,g} {name}" for name, value in budget.model_dump().items() if value is not None]
    return ", ".join(limits) or "no limit"


def squares_of(
    experiment: Experiment, problems: Sequence[str], rows: Sequence[Row], hidden: Set[int]
) -> list[tuple[str, list[Square]]]:
    """By problem that is not hidden, the squares of all rows."""
    states: dict[tuple[str, str, str, int], Counter[str]] = {}
    fields = ("item__name", "method", "team", "budget", "state")
    cells = experiment.solving_cells.order_by().exclude(item__in=hidden)
    for name, method, team, budget, state in cells.values_list(*fields):
        states.setdefault((name, method, team, budget), Counter())[state] += 1
    shown = {name for name, *_ in states}
    url = reverse("experiments:cells", args=[experiment.public_id])
    return [
        (name, [_square(url, name, row, number, states.get((name, *row.key), Counter())) for row in rows])
        for number, name in enumerate(problems)
        if name in shown
    ]


def _square(url: str, problem: str, row: Row, number: int, states: Counter[str]) -> Square:
    scores = [score for score in row.scores[number] if score == score]
    mean = sum(scores) / len(scores) if scores else None
    query = urlencode([("problem", problem), ("method", row.method), ("team", row.team), ("budget", str(row.budget))])
    worst = next((state for state in ("running", "waiting", "failed", "cancelled") if states[state]), "finished")
    counted = ", ".join(f"{count} {state}" for state, count in states.items())
    text = "" if mean is None else f"{100 * mean:.0f}"
    title = f"{problem}, {row.method}: {f'{text} % of {len(scores)} scores' if text else 'no score'}; {counted}"
    return Square(f"{url}?{query}", text, title, None if mean is None else min(SHADES - 1, int(mean * SHADES)), worst)
