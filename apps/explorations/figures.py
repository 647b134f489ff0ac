"""Plotly figures of a run as plain dictionaries: completion tokens over time by role, and the confidence of every lemma.

The page sets the colours of its theme; `meta.ramp` has the confidence steps of a trace.
"""

from collections import defaultdict
from datetime import datetime
from typing import Any

import plotly.graph_objects as go

from apps.explorations.words import role_word
from apps.lemmas.rows import rows_of
from apps.runs.models import Run
from apps.runs.selectors import steps_until
from apps.ui.figures import add_line, plain
from apps.ui.words import ramp_step

MOST_POINTS = 400


def tokens_figure(run: Run, until: int | None = None) -> dict[str, Any]:
    """Cumulative completion tokens over time per role; with `until`, up to that event.

    At most `MOST_POINTS` points per role; the last point is always kept.
    """
    rows = steps_until(run, until).order_by("recorded_at", "pk").values_list("role", "recorded_at", "completion_tokens")
    sums: dict[str, int] = defaultdict(int)
    points: dict[str, list[tuple[datetime, int]]] = defaultdict(list)
    for role, at, tokens in rows.iterator(chunk_size=5000):
        sums[role] += tokens
        points[role].append((at, sums[role]))
    figure = go.Figure()
    for index, (role, series) in enumerate(points.items()):
        kept = _thinned(series)
        add_line(
            figure,
            index,
            x=[at.isoformat() for at, _ in kept],
            y=[total for _, total in kept],
            name=role_word(role),
            line={"shape": "hv"},
            hovertemplate="%{y:,} tokens<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(xaxis={"title": "time"}, yaxis={"title": "completion tokens", "rangemode": "tozero"})
    return plain(figure)


def confidence_figure(run: Run, until: int | None = None) -> dict[str, Any]:
    """The share of passing votes per lemma with its 95 % Wilson interval, by proposal; with `until`, as of that event."""
    lemmas = [lemma for lemma in rows_of(run, until).lemmas() if lemma.confidence is not None]
    shares = [lemma.confidence or 0.0 for lemma in lemmas]
    figure = go.Figure()
    figure.add_scatter(
        x=[lemma.lemma for lemma in lemmas],
        y=shares,
        mode="markers",
        name="confidence",
        error_y={
            "type": "data",
            "array": [max(0.0, (lemma.high or share) - share) for lemma, share in zip(lemmas, shares, strict=True)],
            "arrayminus": [max(0.0, share - (lemma.low or share)) for lemma, share in zip(lemmas, shares, strict=True)],
            "thickness": 1,
        },
        marker={"size": 9},
        customdata=[[lemma.passes, lemma.valid, lemma.total, lemma.get_status_display()] for lemma in lemmas],
        hovertemplate="Lemma %{x}: %{y:.2f}<br>%{customdata[0]} of %{customdata[1]} valid votes passed"
        " (%{customdata[2]} cast)<br>%{customdata[3]}<extra></extra>",
        meta={"ramp": [ramp_step(share) for share in shares]},
    )
    figure.update_layout(
        xaxis={"title": "lemma", "type": "category"},
        yaxis={"title": "share of passing votes", "range": [-0.04, 1.04]},
        showlegend=False,
    )
    return plain(figure)


def _thinned(series: list[tuple[datetime, int]]) -> list[tuple[datetime, int]]:
    step = -(-len(series) // MOST_POINTS)
    kept = series[::step]
    return kept if kept[-1] == series[-1] else [*kept, series[-1]]
