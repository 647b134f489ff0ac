"""Plotly figures as plain dictionaries, in one style. The page sets the colours (static/js/run/charts.js)."""

import math
from collections.abc import Iterable
from typing import Any

import plotly.graph_objects as go

DASHES = ("solid", "dot", "dash", "longdash", "dashdot", "longdashdot")
_STRONGEST = 3
#: Most ticks of an axis of counts.
_TICKS = 8


def add_line(figure: go.Figure, index: int, **options: Any) -> None:
    """Add line number `index`, dashed so that it differs without colours. `options` are those of a scatter trace."""
    line = {"width": 1.5, "dash": DASHES[index % len(DASHES)]} | options.pop("line", {})
    figure.add_scatter(**{"mode": "lines"} | options, line=line)


def add_bars(figure: go.Figure, **options: Any) -> None:
    """Add bars in the strongest colour of the ramp. `options` are those of a bar trace."""
    figure.add_bar(**options, meta={"ramp": [_STRONGEST] * len(options["x"])})


def count_axis(title: str, counts: Iterable[int]) -> dict[str, Any]:
    """An axis of counts from 0 with a tick at whole numbers only."""
    return {"title": title, "rangemode": "tozero", "dtick": max(1, math.ceil(max(counts, default=0) / _TICKS))}


def plain(figure: go.Figure) -> dict[str, Any]:
    """The figure as a dictionary, without Plotly's default template and its colours."""
    margin = {"l": 56, "r": 12, "t": 48 if len(figure.data) > 1 else 12, "b": 48}
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom"}
    figure.update_layout(template="none", margin=margin, legend=legend)
    figure.update_xaxes(automargin=True)
    figure.update_yaxes(automargin=True)
    found: dict[str, Any] = figure.to_plotly_json()
    return {"data": list(found["data"]), "layout": found["layout"]}
