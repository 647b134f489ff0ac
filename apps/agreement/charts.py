"""The Plotly figure of the agreement page: bias by band of the person's points, one line per grader."""

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from apps.agreement.comparisons import Part
from apps.agreement.pages import band_label
from apps.ui.figures import add_line, plain

_MARKS = ("circle", "square", "diamond", "x")


def bias_charts(parts: Sequence[Part], names: Mapping[str, str]) -> dict[str, Any]:
    """One chart per part, keyed by its name on the page: `bias-0`, `bias-1` …"""
    return {f"bias-{number}": _bias(part, names) for number, part in enumerate(parts)}


def _bias(part: Part, names: Mapping[str, str]) -> dict[str, Any]:
    figure = go.Figure()
    columns = [(names.get(one.name, one.name), one.over_all) for one in part.graders]
    if part.people is not None:
        columns.append(("two people", part.people))
    for index, (name, found) in enumerate(columns):
        if any(band.bias is not None for band in found.bands):
            add_line(  # A band with too few papers is a gap: a line across it would suggest a value.
                figure,
                index,
                x=[band_label(band) for band in found.bands],
                y=[None if band.bias is None else round(band.bias, 4) for band in found.bands],
                customdata=[[band.counts.pairs] for band in found.bands],
                name=name,
                mode="lines+markers",
                marker={"size": 9, "symbol": _MARKS[index % len(_MARKS)]},
                hovertemplate="band %{x}: %{y:+.2f}, %{customdata[0]} papers<extra>%{fullData.name}</extra>",
            )
    bands = [band_label(band) for band in columns[0][1].bands] if columns else []
    figure.update_layout(
        showlegend=len(figure.data) > 1,
        xaxis={"title": "the person’s points", "type": "category", "categoryorder": "array", "categoryarray": bands},
        yaxis={"title": "bias, points", "zeroline": True},
    )
    return plain(figure)
