"""Plotly figures of a simulated schedule: utilisation, busy slots over time, and staleness of the samples."""

from typing import Any

import plotly.graph_objects as go

from apps.learning.schedules.schedule import Simulation
from apps.ui.figures import add_bars, add_line, plain

TITLES = {
    "utilisation": ("Utilisation", "Share of slot time spent writing, per schedule."),
    "busy": ("Busy slots during one step", "Share of slots writing, from the start to the end of the first step."),
    "staleness": ("Staleness", "Share of problems by the number of policy versions they span."),
}


def schedule_figures(found: Simulation) -> dict[str, Any]:
    """All charts by name."""
    return {"utilisation": plain(_utilisation(found)), "busy": plain(_busy(found)), "staleness": plain(_staleness(found))}


def _utilisation(found: Simulation) -> go.Figure:
    figure = go.Figure()
    add_bars(
        figure,
        x=[schedule.title for schedule in found.schedules],
        y=[schedule.utilisation for schedule in found.schedules],
        customdata=[[schedule.time] for schedule in found.schedules],
        text=[f"{schedule.utilisation:.0%}" for schedule in found.schedules],
        textposition="outside",
        cliponaxis=False,
        hovertemplate="%{x}: %{y:.1%}<br>%{customdata[0]:.1f} units per step<extra></extra>",
    )
    figure.update_layout(yaxis={"title": "utilisation", "range": [0, 1.08], "tickformat": ".0%"}, showlegend=False)
    return figure


def _busy(found: Simulation) -> go.Figure:
    figure = go.Figure()
    drawn = [(schedule, schedule.shift) for schedule in found.schedules if schedule.shift]
    for index, (schedule, shift) in enumerate(drawn):
        times, shares = shift.profile(found.setting.slots)
        add_line(
            figure,
            index,
            x=[round(float(time), 3) for time in times],
            y=[round(float(share), 4) for share in shares],
            name=schedule.title,
            hovertemplate="%{y:.0%} at %{x:.0f}<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        xaxis={"title": "time (1 unit: a slot writes 1k tokens)", "rangemode": "tozero"},
        yaxis={"title": "busy slots", "range": [-0.02, 1.04], "tickformat": ".0%"},
    )
    return figure


def _staleness(found: Simulation) -> go.Figure:
    figure = go.Figure()
    drawn = [schedule for schedule in found.schedules if schedule.name in {"chain", "pipeline", "segments"}]
    for index, schedule in enumerate(drawn):
        problems = sum(number for _, number in schedule.versions)
        shares = {span: number / problems for span, number in schedule.versions}
        spans = range(1, max(other.most_versions for other in drawn) + 1)
        add_line(
            figure,
            index,
            x=list(spans),
            y=[round(shares.get(span, 0.0), 4) for span in spans],
            name="Barrier, each problem by itself" if schedule.name == "chain" else schedule.title,
            mode="lines+markers",
            hovertemplate="%{y:.1%} of the problems over %{x} versions<extra>%{fullData.name}</extra>",
        )
    figure.update_layout(
        xaxis={"title": "policy versions per problem"},
        yaxis={"title": "share of problems", "tickformat": ".0%", "rangemode": "tozero"},
    )
    return figure
