"""Plotly figures of a contest's statistics: points, items, time on a script, totals, correlation. Counts have whole ticks."""

import math
from typing import Any

import plotly.graph_objects as go

from apps.marks.office.statistics import ProblemFigures
from apps.marks.office.totals import TotalFigures
from apps.reasoning.marking.schemes.scheme import points_words
from apps.ui.figures import add_bars, add_line, count_axis, plain
from apps.ui.words import duration, ramp_step

#: Charts of a problem: title, and what they show.
TITLES = {
    "points": ("Points", "Number of scripts by points"),
    "shares": ("Items of the scheme", "Share of scripts with each item"),
    "times": ("Time on a script", "Active minutes per mark, in the order of each marker"),
}
#: Charts of the whole contest.
TOTAL_TITLES = {
    "totals": ("Totals", "Number of papers by total"),
    "pairs": ("Correlation between problems", "Correlation of the points of each two problems; larger circles are stronger"),
}
#: Ticks of an axis of points at most.
_TICKS = 12
_LARGEST = 34
Words = tuple[str, str, str]


def problem_charts(found: ProblemFigures) -> dict[str, Any]:
    """All charts of a problem, by name."""
    return {"points": plain(_points(found)), "shares": plain(_items(found)), "times": plain(_times(found))}


def total_charts(found: TotalFigures) -> dict[str, Any]:
    """All charts of the whole contest, by name."""
    return {"totals": plain(_totals(found)), "pairs": plain(_pairs(found))}


def problem_words(found: ProblemFigures) -> list[Words]:
    """Name and title of each chart of a problem, and what it shows in words, for readers who do not see it."""
    points = ", ".join(f"{points_words(points)}: {count}" for points, count in sorted(found.points.items()))
    shares = ", ".join(f"{item.code}: {item.share:.0%}" for item in found.items)
    times = ", ".join(
        f"{row.marker.get_short_name() or row.marker.username}: {duration(row.seconds)}"
        for row in found.markers
        if row.seconds is not None
    )
    said = {"points": points, "shares": shares, "times": f"medians {times}" if times else ""}
    return _said(TITLES, said)


def total_words(found: TotalFigures) -> list[Words]:
    """The same for the charts of the whole contest."""
    totals = ", ".join(f"{one.words}: {one.papers}" for one in found.bins if one.papers)
    pairs = ", ".join(
        f"{pair.one.label} and {pair.other.label}: {pair.value:.2f}" for pair in found.pairs if pair.value is not None
    )
    said = {"totals": totals, "pairs": pairs}
    titles = {name: title for name, title in TOTAL_TITLES.items() if found.pairs or name != "pairs"}
    return _said(titles, said)


def _said(titles: dict[str, tuple[str, str]], said: dict[str, str]) -> list[Words]:
    return [(name, title, f"{what}. {said[name] or 'Nothing yet'}.") for name, (title, what) in titles.items()]


def _totals(found: TotalFigures) -> go.Figure:
    figure = go.Figure()
    add_bars(
        figure,
        x=[one.words for one in found.bins],
        y=[one.papers for one in found.bins],
        hovertemplate="total %{x}: %{y}<extra></extra>",
    )
    figure.update_layout(
        xaxis={"title": "total", "type": "category"},
        yaxis=count_axis("papers", (one.papers for one in found.bins)),
        bargap=0.1,
        showlegend=False,
    )
    return figure


def _pairs(found: TotalFigures) -> go.Figure:
    """Each pair twice, so that a row or a column has all pairs of a problem."""
    known = [(pair, pair.value) for pair in found.pairs if pair.value is not None]
    both = [(pair.one.label, pair.other.label, value, pair.papers) for pair, value in known]
    both += [(other, one, value, papers) for one, other, value, papers in both]
    labels = list(dict.fromkeys(label for pair in found.pairs for label in (pair.one.label, pair.other.label)))
    figure = go.Figure()
    figure.add_scatter(
        x=[one for one, *_ in both],
        y=[other for _, other, *_ in both],
        mode="markers",
        marker={"size": [max(4.0, _LARGEST * abs(value)) for *_, value, _ in both]}
        | {"symbol": ["circle" if value >= 0 else "circle-open" for *_, value, _ in both]},
        customdata=[[value, papers] for *_, value, papers in both],
        hovertemplate="%{x} and %{y}: %{customdata[0]:.2f} on %{customdata[1]} papers<extra></extra>",
        cliponaxis=False,
        meta={"ramp": [ramp_step(abs(value)) for *_, value, _ in both]},
    )
    axis = {"title": "problem", "type": "category", "categoryorder": "array", "categoryarray": labels}
    figure.update_layout(xaxis=axis, yaxis=axis | {"autorange": "reversed"}, showlegend=False)
    return figure


def _points(found: ProblemFigures) -> go.Figure:
    rows = sorted(found.points.items())
    step, scale = float(found.problem.contest.point_step), float(found.scale)
    figure = go.Figure()
    add_bars(
        figure,
        x=[float(points) for points, _ in rows],
        y=[count for _, count in rows],
        width=[0.8 * step] * len(rows),
        customdata=[[points_words(points)] for points, _ in rows],
        hovertemplate="%{customdata[0]}: %{y}<extra></extra>",
    )
    figure.update_layout(
        xaxis={"title": "points", "range": [-0.6 * step, scale + 0.6 * step], "dtick": math.ceil(scale / _TICKS), "tick0": 0},
        yaxis=count_axis("scripts", (count for _, count in rows)),
        showlegend=False,
    )
    return figure


def _items(found: ProblemFigures) -> go.Figure:
    figure = go.Figure()
    add_bars(
        figure,
        x=[item.code for item in found.items],
        y=[item.share for item in found.items],
        customdata=[[item.ticked] for item in found.items],
        hovertemplate="%{x}: %{y:.0%}, %{customdata[0]} scripts<extra></extra>",
    )
    figure.update_layout(
        xaxis={"title": "item", "type": "category"},
        yaxis={"title": "share of scripts", "range": [0, 1.04], "tickformat": ".0%"},
        showlegend=False,
    )
    return figure


def _times(found: ProblemFigures) -> go.Figure:
    figure = go.Figure()
    for index, marker in enumerate(sorted({point.marker for point in found.times})):
        mine = [point for point in found.times if point.marker == marker and point.seconds > 0]
        add_line(
            figure,
            index,
            x=[point.order for point in mine],
            y=[round(point.seconds / 60, 2) for point in mine],
            name=marker,
            mode="lines+markers",
            hovertemplate="script %{x}: %{y:.1f} min<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        xaxis=count_axis("script, in the marker's order", (point.order for point in found.times)),
        yaxis={"title": "active minutes", "rangemode": "tozero"},
    )
    return figure
