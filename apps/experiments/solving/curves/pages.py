"""Content of the page of budgets: curves of score against budget, the same as a table, and the Pareto front."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import plotly.graph_objects as go

from apps.experiments.models import Experiment, SolvingState
from apps.experiments.solving.curves.budgets import MONEY, UNITS, Curve, Point, curves_of, front
from apps.experiments.solving.curves.recording import KINDS
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.pages import name_of
from apps.experiments.solving.services import manifest_stored
from apps.experiments.solving.tables import Row, rows_of
from apps.ui.figures import add_line, plain
from apps.ui.words import compact

#: Budgets in the table below the chart.
COLUMNS = 6
#: With more curves the bands hide each other. The table has all intervals.
BANDS_AT_MOST = 4


@dataclass(frozen=True)
class CostLine:
    """A row with what a cell costs. `is_best`: on the Pareto front; `beaten_by`: rows that are as good for less, or better."""

    name: str
    cost: float
    amount: str
    score: float
    is_best: bool
    beaten_by: str


@dataclass(frozen=True)
class CurveLine:
    """A row of the table of scores by budget, each with its interval in percent; "–" before its first answer."""

    name: str
    cells: int
    scores: tuple[tuple[str, str], ...]


def page_of(experiment: Experiment, scorer: str, unit: str) -> dict[str, Any]:
    """The context of the page for a scorer and a unit of `units_of`; the first ones if these are none."""
    manifest = manifest_stored(experiment)
    units = units_of(manifest)
    names = [one.name for one in manifest.scorers if one.kind in KINDS]
    chosen = scorer if scorer in names else next(iter(names), "")
    unit = unit if unit in units else next(iter(units))
    found = curves_of(experiment, chosen, unit) if manifest.curves else []
    curves = [curve for curve in found if curve.points]
    costs = cost_lines(manifest, rows_of(experiment, chosen)[1], unit) if chosen else []
    finished = experiment.solving_cells.filter(state=SolvingState.FINISHED)
    budgets = _columns(curves, unit)
    return {
        "manifest": manifest,
        "scorers": names,
        "scorer": chosen,
        "units": list(units.items()),
        "unit": unit,
        "unit_title": units[unit],
        "budgets": [amount(budget, unit) for budget in budgets],
        "unpriced": sum(curve.unpriced for curve in found),
        "lines": [_curve_line(manifest, curve, budgets) for curve in curves],
        "costs": costs,
        "open": finished.filter(handed__isnull=True).count() if manifest.curves else 0,
        "figures": {
            "curves": _curves_figure(manifest, curves, unit, units[unit]),
            "front": _front_figure(costs, unit, units[unit]),
        },
    }


def units_of(manifest: Manifest) -> dict[str, str]:
    """Units with their titles: money where the manifest has prices."""
    money = {MONEY: manifest.currency} if manifest.prices else {}
    return {name: title for name, (_, title) in UNITS.items()} | money


def amount(value: float, unit: str) -> str:
    """A budget or a cost as text; small numbers with two digits that are not 0."""
    if value >= (1 if unit == MONEY else 10):
        return f"{value:,.2f}" if unit == MONEY else compact(value)
    return np.format_float_positional(value, precision=2, fractional=False, trim="-")


def cost_lines(manifest: Manifest, rows: Sequence[Row], unit: str) -> list[CostLine]:
    """Rows with a score by ascending cost."""
    known = [row for row in rows if row.mean is not None and row.has_costs and getattr(row, unit) is not None]
    found = [(name_of(manifest, row), float(getattr(row, unit)), row.mean) for row in known]
    found.sort(key=lambda line: line[1])
    costs, scores = [cost for _, cost, _ in found], [score or 0.0 for _, _, score in found]
    best = set(front(costs, scores))
    lines = []
    for number, (name, cost, score) in enumerate(found):
        others = [found[one][0] for one in best if costs[one] <= cost and scores[one] >= (score or 0.0)]
        lines.append(
            CostLine(name, cost, amount(cost, unit), score or 0.0, number in best, "" if number in best else ", ".join(others))
        )
    return lines


def _columns(curves: Sequence[Curve], unit: str) -> list[float]:
    """Budgets from the first answer of a row to the most that one used, each about the same factor apart."""
    if not curves:
        return []
    first, last = min(one.points[0].budget for one in curves), max(one.points[-1].budget for one in curves)
    factor = (last / first) ** (1 / (COLUMNS - 1))
    return sorted({_rounded(first * factor**number, unit) for number in range(COLUMNS)})


def _rounded(budget: float, unit: str) -> float:
    """Up to two digits, so that a budget in a head is a short number, and up to whole calls."""
    if unit == "calls" and budget < 100:
        return float(ceil(budget - 1e-9))
    return float(f"{budget * 1.0499:.2g}")


def _curve_line(manifest: Manifest, curve: Curve, budgets: Sequence[float]) -> CurveLine:
    found = [curve.at(budget) for budget in budgets]
    return CurveLine(
        name_of(manifest, curve.row),
        curve.cells,
        tuple(("–", "") if point is None else _words(point) for point in found),
    )


def _words(point: Point) -> tuple[str, str]:
    around = "" if point.low is None or point.high is None else f"{100 * point.low:.0f} to {100 * point.high:.0f}"
    return f"{100 * point.score:.0f}", around


def _curves_figure(manifest: Manifest, curves: Sequence[Curve], unit: str, title: str) -> dict[str, Any]:
    """A stepped line for each row, and a band of its interval."""
    figure = go.Figure()
    for number, curve in enumerate(curves):
        name, x = name_of(manifest, curve.row), [point.budget for point in curve.points]
        banded = [point for point in curve.points if point.low is not None] if len(curves) <= BANDS_AT_MOST else []
        ends = [(point.high, point.low) for point in banded]
        for place, fill in ((0, "none"), (1, "tonexty")):
            figure.add_scatter(
                x=[point.budget for point in banded],
                y=[_percent(end[place]) for end in ends],
                mode="lines",
                line={"width": 0, "shape": "hv"},
                fill=fill,
                hoverinfo="skip",
                showlegend=False,
                legendgroup=name,
                meta={"line": number, "is_band": True},
            )
        add_line(
            figure,
            number,
            x=x,
            y=[_percent(point.score) for point in curve.points],
            name=name,
            legendgroup=name,
            line={"shape": "hv"},
            meta={"line": number},
            hovertemplate=f"%{{y:.1f}} % at %{{x:{_digits(unit)}}}<extra>%{{fullData.name}}</extra>",
        )
    figure.update_layout(
        xaxis={"title": f"budget: {title}", "type": "log"}, yaxis={"title": "mean score, %", "rangemode": "tozero"}, height=420
    )
    return plain(figure)


def _front_figure(lines: Sequence[CostLine], unit: str, title: str) -> dict[str, Any]:
    """Rows by cost and score; those on the front are joined."""
    figure = go.Figure()
    best = [line for line in lines if line.is_best]
    rest = [line for line in lines if not line.is_best]
    for number, (name, some, mode) in enumerate(
        (("best for their cost", best, "lines+markers+text"), ("beaten by another", rest, "markers+text"))
    ):
        add_line(
            figure,
            number,
            x=[line.cost for line in some],
            y=[_percent(line.score) for line in some],
            text=[line.name for line in some],
            textposition="top center",
            mode=mode,
            name=name,
            line={"shape": "hv"},
            marker={"size": 9, "symbol": "circle" if number == 0 else "circle-open"},
            cliponaxis=False,
            hovertemplate=f"%{{text}}: %{{y:.1f}} % for %{{x:{_digits(unit)}}}<extra></extra>",
        )
    figure.update_layout(
        xaxis={"title": f"{title} of a cell", "range": [0, 1.2 * max((line.cost for line in lines), default=1)]},
        yaxis={"title": "mean score, %", "rangemode": "tozero"},
        height=380,
    )
    return plain(figure)


def _digits(unit: str) -> str:
    """How Plotly writes an amount."""
    return {MONEY: ".3g", "seconds": ",.3~r", "calls": ",.3~r"}.get(unit, ",.0f")


def _percent(share: float | None) -> float | None:
    return None if share is None else round(100 * share, 2)
