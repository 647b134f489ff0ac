"""Content of an experiment's page: progress, the table with intervals and differences, and the heat map of its cells."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Sum
from django.utils.http import urlencode

from apps.experiments.models import CellScore, Experiment, SolvingState
from apps.experiments.solving.comparing.endings import clause_of
from apps.experiments.solving.heat import squares_of
from apps.experiments.solving.manifest import CellBudget, Manifest
from apps.experiments.solving.measures import Measuring, mean_of, metrics_of
from apps.experiments.solving.people.answers import answers_marked
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import Row, rows_of
from apps.problem_sets.models import ProblemSetItem
from apps.reasoning.statistics.differences import Difference, difference, holm, sentence
from apps.reasoning.statistics.intervals import Interval, Undefined
from apps.reasoning.statistics.means import interval
from apps.reasoning.statistics.metrics import Measure

#: From this difference on, the shares of unscored cells of two rows are named with the difference of their scores.
UNEQUAL = 0.05
NO_SCORER = "The manifest has no scorer. Add one with Add to it: no model is asked twice."


@dataclass(frozen=True)
class Line:
    """A row of the table. `value` is a share, `interval` in percent, or `why` there is none; `against`: what may be said."""

    row: Row
    name: str
    value: float | None
    interval: str
    why: str
    against: str
    reasons: tuple[tuple[str, int], ...]
    is_baseline: bool

    @property
    def mean(self) -> str:
        return "" if self.value is None else f"{100 * self.value:.1f} %"

    @property
    def bounds(self) -> str:
        """The mean with the lowest and with the highest score for all unscored cells; "" if there is none."""
        found = self.row.bounds
        return f"{100 * found[0]:.1f} % and {100 * found[1]:.1f} %" if found else ""

    @property
    def failed(self) -> int:
        return self.row.cells["failed"]  # A template would read a counter's missing key as nothing.

    @property
    def unscored(self) -> int:
        return sum(count for _, count in self.reasons)


def _descending(value: float | None) -> tuple[bool, float]:
    return value is None, -(value or 0.0)


#: Orders of the lines by the column of the table: the best score first, the lowest cost first.
ORDERS: dict[str, Callable[[Line], Any]] = {
    "score": lambda line: _descending(line.value),
    "unscored": lambda line: line.unscored,
    "failed": lambda line: line.row.cells["failed"],
    "calls": lambda line: line.row.calls,
    "tokens": lambda line: line.row.tokens,
    "seconds": lambda line: line.row.seconds,
    "money": lambda line: (line.row.money is None, line.row.money or 0.0),
}
_TITLES = ("score", "interval", "scored", "unscored", "failed", "calls", "tokens", "seconds")


class Column(NamedTuple):
    """A head of the table. `order`: the key in `ORDERS`, or ""; `url` sorts by it."""

    title: str
    order: str
    url: str

    @property
    def is_number(self) -> bool:
        return self.title != "Interval" and not self.title.startswith("Against ")


def page_of(experiment: Experiment, asked: Mapping[str, str], hidden: Set[int]) -> dict[str, Any]:
    """The context of the page. `asked`: names of a scorer, a metric and a column to sort by; unknown ones are the first.

    `hidden`: items of the set that the map leaves out, because they are held back from the reader.
    """
    manifest = manifest_stored(experiment)
    names = [one.name for one in manifest.scorers]
    chosen = asked.get("scorer", "") if asked.get("scorer") in names else next(iter(names), "")
    problems, rows = rows_of(experiment, chosen)
    without = sum(int(row.without.sum()) for row in rows)
    if counts_none := asked.get("none") == "0":
        rows = [row.counting_none for row in rows]
    metrics = metrics_of(manifest, chosen)
    metric = next((one for one in metrics if one.name == asked.get("metric")), metrics[0])
    measuring = Measuring(experiment, chosen, metric, problems)
    lines = lines_of(manifest, rows, [measuring.of(row) for row in rows])
    unseen = set(ProblemSetItem.objects.filter(pk__in=hidden).values_list("name", flat=True))
    query = {"scorer": chosen, "metric": metric.name} | ({"none": "0"} if counts_none else {})
    return {
        "manifest": manifest,
        "progress": progress_of(experiment),
        "scorers": names,
        "scorer": chosen,
        "metrics": metrics,
        "metric": metric,
        "without": without,
        "counts_none": counts_none,
        "budget": budgets_said(manifest),
        "over_budget": over_budget(manifest, rows),
        "no_scorer": "" if names else NO_SCORER,
        "squares": squares_of(experiment, problems, rows, [line.name for line in lines], unseen),
        "problems": len(problems),
        "marked": answers_marked(experiment, manifest),
        "hidden": len(hidden),
    } | _table_of(manifest, lines, asked.get("sort", ""), query)


def _table_of(manifest: Manifest, lines: list[Line], sort: str, query: Mapping[str, str]) -> dict[str, Any]:
    """Heads and lines, sorted by a column of `ORDERS`. The links that sort keep `query`."""
    currency = manifest.currency
    baseline = next((line.name for line in lines if line.is_baseline), "")
    return {
        "sort": sort if sort in ORDERS else "",
        "currency": currency,
        "columns": _columns(query, currency, baseline),
        "baseline": baseline,
        "unscored": sum(line.unscored for line in lines),
        "lines": sorted(lines, key=ORDERS[sort]) if sort in ORDERS else lines,
        "heads": [line.name for line in lines],
    }


def _columns(query: Mapping[str, str], currency: str, baseline: str) -> list[Column]:
    """The heads after the name; `query` is kept by the links that sort."""
    titles = [(name, name.capitalize()) for name in _TITLES] + ([("money", currency)] if currency else [])
    titles += [("", f"Against {baseline}")] if baseline else []
    return [
        Column(title, name, f"?{urlencode({**query, 'sort': name})}") if name in ORDERS else Column(title, "", "")
        for name, title in titles
    ]


def over_budget(manifest: Manifest, rows: Sequence[Row]) -> list[str]:
    """Rows with cells that used more than their budget, in words: calls under way are not stopped."""
    found = []
    for row in rows:
        budget, ended = manifest.budgets[row.budget], row.cells[SolvingState.FINISHED]
        for unit, (count, most) in row.over.items():
            limit, used = (f"{budget.tokens:,}", f"{most:,.0f}") if unit == "tokens" else (f"{budget.money:,g}", f"{most:,.4g}")
            words = unit if unit == "tokens" else manifest.currency
            found.append(f"{name_of(manifest, row)}: {count:,} of {ended:,}, up to {used} {words}, with a budget of {limit}.")
    return found


def progress_of(experiment: Experiment) -> dict[str, Any]:
    """Numbers of cells by state, and what the runs that were made for it cost."""
    rows = experiment.solving_cells.order_by().values_list("state").annotate(count=Count("pk"))
    counts = Counter(dict(rows))
    own = experiment.solving_cells.filter(taken_over=False, run__isnull=False)
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


def mean_lines(manifest: Manifest, problems: Sequence[str], rows: Sequence[Row]) -> list[Line]:
    """The table by mean scores."""
    return lines_of(manifest, rows, [mean_of(problems, row) for row in rows])


def lines_of(manifest: Manifest, rows: Sequence[Row], measures: Sequence[Measure | Undefined]) -> list[Line]:
    """The table. Differences are to the baseline, paired by problem, with Holm's correction over all rows."""
    names = [name_of(manifest, row) for row in rows]
    base = next((number for number, row in enumerate(rows) if row.method == manifest.baseline), None)
    said = _against(names, measures, base)
    lines = []
    for number, row in enumerate(rows):
        measure = measures[number]
        around = interval(measure) if isinstance(measure, Measure) else measure
        lines.append(
            Line(
                row=row,
                name=names[number],
                value=measure.value if isinstance(measure, Measure) else None,
                interval=f"{100 * around.low:.1f} to {100 * around.high:.1f}" if isinstance(around, Interval) else "",
                why="" if isinstance(around, Interval) or not row.scored else around.reason,
                against=said[number] + _unequal(row, rows[base or 0]) if number in said else "",
                reasons=_reasons(row),
                is_baseline=number == base,
            )
        )
    return lines


def _reasons(row: Row) -> tuple[tuple[str, int], ...]:
    """Reasons with their counts, most frequent first, without what they quote from single answers."""
    counts: Counter[str] = Counter()
    for reason, count in row.unscored.items():
        counts[clause_of(reason)] += count
    return tuple(counts.most_common())


def _against(names: Sequence[str], measures: Sequence[Measure | Undefined], base: int | None) -> dict[int, str]:
    """By row, what may be said of it and the baseline."""
    theirs = measures[base] if base is not None else None
    if base is None or not isinstance(theirs, Measure):
        return {}
    others = {number: one for number, one in enumerate(measures) if number != base and isinstance(one, Measure)}
    found = {number: difference(one, theirs, comparisons=len(others)) for number, one in others.items()}
    tested = {number: one for number, one in found.items() if isinstance(one, Difference)}
    adjusted = dict(zip(tested, holm([one.p_value for one in tested.values()]), strict=True))
    return {number: sentence(one, names[number], names[base], adjusted=adjusted.get(number)) for number, one in found.items()}


def _unequal(row: Row, base: Row) -> str:
    """A warning if one of two rows leaves many more cells without a score than the other; "" if not."""
    shares = [(sum(one.unscored.values()), one.scored + sum(one.unscored.values())) for one in (row, base)]
    if not all(count for _, count in shares) or abs(shares[0][0] / shares[0][1] - shares[1][0] / shares[1][1]) <= UNEQUAL:
        return ""
    return f" {shares[0][0]:,} of {shares[0][1]:,} are unscored here, {shares[1][0]:,} of {shares[1][1]:,} there."


def name_of(manifest: Manifest, row: Row) -> str:
    """Method, team and budget of a row; only what differs between rows."""
    if row.method in manifest.external:
        return row.method
    parts = [row.method]
    parts += [row.team] if len(manifest.teams) > 1 else []
    parts += [budget_words(manifest.budgets[row.budget], manifest.currency)] if len(manifest.budgets) > 1 else []
    return " · ".join(parts)


def budget_words(budget: CellBudget, currency: str) -> str:
    """A budget as text."""
    units = budget.limits.model_dump().items()
    limits = [_limit(value, currency if name == "money" else name) for name, value in units if value is not None]
    return ", ".join(limits) or "no limit"


def _limit(value: float, unit: str) -> str:
    return f"{value:,g} {unit.removesuffix('s') if value == 1 else unit}"


def budgets_said(manifest: Manifest) -> str:
    """The budgets of a cell, as a sentence, and which tokens they count."""
    words = [budget_words(budget, manifest.currency) for budget in manifest.budgets]
    counted = " Tokens of prompts and answers count." if any(budget.tokens for budget in manifest.budgets) else ""
    return f"Budget{'s' if len(words) > 1 else ''} of a cell: {'; '.join(words)}.{counted}"
