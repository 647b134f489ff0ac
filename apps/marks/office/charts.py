"""Plotly figures of a contest's statistics: points, items, time on a script."""

from typing import Any

import plotly.graph_objects as go

from apps.marks.office.statistics import ProblemFigures
from apps.ui.figures import add_bars, add_line, plain

#: Charts of a problem: title, and description for screen readers.
TITLES = {
    "points": ("Points", "Number of scripts by points."),
    "shares": ("Items of the scheme", "Share of scripts with each item."),
    "times": ("Time on a script", "Active minutes per mark, in the order of each marker."),
}


def problem_charts(found: ProblemFigures) -> dict[str, Any]:
    """All charts of a problem, by name."""
    return {"points": plain(_points(found)), "shares": plain(_items(found)), "times": plain(_times(found))}


def _points(found: ProblemFigures) -> go.Figure:
    rows = sorted(found.points.items())
    figure = go.Figure()
    add_bars(
        figure,
        x=[float(points) for points, _ in rows],
        y=[count for _, count in rows],
        width=[0.8] * len(rows),
        hovertemplate="%{x} points: %{y}<extra></extra>",
    )
    figure.update_layout(
        xaxis={"title": "points", "range": [-0.6, float(found.scale) + 0.6]},
        yaxis={"title": "scripts", "rangemode": "tozero"},
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
        xaxis={"title": "script, in the marker's order"}, yaxis={"title": "active minutes", "rangemode": "tozero"}
    )
    return figure
