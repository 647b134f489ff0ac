"""Plotly figures of a contest's statistics: points, items, time on a script."""

from typing import Any

import plotly.graph_objects as go

from apps.marks.office.statistics import ProblemFigures

#: Charts of a problem: title, and description for screen readers.
TITLES = {
    "points": ("Points", "Number of scripts by points."),
    "shares": ("Items of the scheme", "Share of scripts with each item."),
    "times": ("Time on a script", "Active minutes per mark, in the order of each marker."),
}
STRONGEST = 3
_DASHES = ("solid", "dot", "dash", "dashdot")


def problem_charts(found: ProblemFigures) -> dict[str, Any]:
    """All charts of a problem, by name."""
    return {"points": _plain(_points(found)), "shares": _plain(_items(found)), "times": _plain(_times(found))}


def _points(found: ProblemFigures) -> go.Figure:
    rows = sorted(found.points.items())
    figure = go.Figure()
    figure.add_bar(
        x=[float(points) for points, _ in rows],
        y=[count for _, count in rows],
        width=[0.8] * len(rows),
        hovertemplate="%{x} points: %{y}<extra></extra>",
        meta={"ramp": [STRONGEST] * len(rows)},
    )
    figure.update_layout(
        xaxis={"title": "points", "range": [-0.6, float(found.scale) + 0.6]},
        yaxis={"title": "scripts", "rangemode": "tozero"},
        showlegend=False,
    )
    return figure


def _items(found: ProblemFigures) -> go.Figure:
    figure = go.Figure()
    figure.add_bar(
        x=[item.code for item in found.items],
        y=[item.share for item in found.items],
        customdata=[[item.ticked] for item in found.items],
        hovertemplate="%{x}: %{y:.0%}, %{customdata[0]} scripts<extra></extra>",
        meta={"ramp": [STRONGEST] * len(found.items)},
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
        figure.add_scatter(
            x=[point.order for point in mine],
            y=[round(point.seconds / 60, 2) for point in mine],
            name=marker,
            mode="lines+markers",
            line={"width": 1.5, "dash": _DASHES[index % len(_DASHES)]},
            hovertemplate="script %{x}: %{y:.1f} min<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        xaxis={"title": "script, in the marker's order"}, yaxis={"title": "active minutes", "rangemode": "tozero"}
    )
    return figure


def _plain(figure: go.Figure) -> dict[str, Any]:
    """The figure without Plotly's default template, which has its own colours."""
    margin = {"l": 56, "r": 12, "t": 48 if len(figure.data) > 1 else 12, "b": 48}
    figure.update_layout(template="none", margin=margin, legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"})
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(automargin=True)
    found: dict[str, Any] = figure.to_plotly_json()
    return {"data": list(found["data"]), "layout": found["layout"]}
