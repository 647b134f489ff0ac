"""The history as Plotly figures: plain dictionaries. The page sets the colours (static/js/run/charts.js)."""

from collections.abc import Callable, Sequence
from typing import Any

import plotly.graph_objects as go

from apps.operations.history import Point
from apps.ui.figures import add_line, plain

MEGA = 1_000_000
HEIGHT = 220

#: Caption of each chart, and its text for screen readers.
TITLES = {
    "tokens": ("Tokens written", "Tokens written per second, over all models"),
    "calls": ("Calls", "Calls generating, waiting in workers, and messages in queues"),
    "answers": ("Answers", "Calls ended per minute, calls resent or retried, and leases of runs renewed"),
    "waits": ("Waits", "Mean seconds to the first token and in queues, and the age of the oldest result not in the journal"),
    "journal": ("Journal and pages", "Mean milliseconds of a journal commit, and from an event to the pages that watch"),
    "cache": ("Prefix cache", "Percentage of prompt tokens that engines had in their prefix cache"),
    "people": ("Runs and readers", "Runs driven, stalled runs and open pages"),
    "stores": ("Stores", "Megabytes used by Redis and by the database"),
}

Line = tuple[str, Callable[[Point], float | None]]
#: Name of a chart → axis title and lines.
CHARTS: dict[str, tuple[str, Sequence[Line]]] = {
    "tokens": ("tokens per second", [("written", lambda point: point.rate("tokens"))]),
    "calls": (
        "calls",
        [
            ("generating", lambda point: point.sample["running"]),
            ("waiting in workers", lambda point: point.sample["waiting"]),
            ("queued messages", lambda point: point.sample["queued"]),
        ],
    ),
    "answers": (
        "calls per minute",
        [
            ("ended", lambda point: point.rate("ended", 60.0)),
            ("resent or retried", lambda point: point.rate("again", 60.0)),
            ("leases renewed", lambda point: point.rate("leases", 60.0)),
        ],
    ),
    "waits": (
        "seconds, mean",
        [
            ("to the first token", lambda point: point.mean("first")),
            ("in queues", lambda point: point.mean("wait")),
            ("oldest result not in the journal", lambda point: point.sample["lag"]),
        ],
    ),
    "journal": (
        "milliseconds, mean",
        [
            ("journal commit", lambda point: _times(point.mean("commit"), 1000.0)),
            ("event to pages", lambda point: _times(point.mean("event"), 1000.0)),
        ],
    ),
    "cache": ("% of prompt tokens", [("found", lambda point: _times(point.share("cached", "prompt"), 100.0))]),
    "people": (
        "",
        [
            ("runs driven", lambda point: point.sample["runs"]),
            ("stalled runs", lambda point: point.sample["stalled"]),
            ("open pages", lambda point: point.sample["sockets"]),
        ],
    ),
    "stores": (
        "MB",
        [
            ("Redis", lambda point: point.sample["redis"] / MEGA),
            ("database", lambda point: point.sample["database"] / MEGA),
        ],
    ),
}


def history_figures(points: Sequence[Point]) -> dict[str, Any]:
    """All charts by name. Gaps in the samples are gaps in the lines."""
    return {name: _figure(title, lines, points) for name, (title, lines) in CHARTS.items()}


def _figure(title: str, lines: Sequence[Line], points: Sequence[Point]) -> dict[str, Any]:
    figure = go.Figure()
    for index, (name, value_of) in enumerate(lines):
        times: list[str] = []
        values: list[float | None] = []
        for point in points:
            if point.after is None and times:
                times.append(point.at.isoformat())
                values.append(None)
            value = value_of(point)
            times.append(point.at.isoformat(timespec="seconds"))
            values.append(None if value is None else round(value, 3))
        add_line(figure, index, x=times, y=values, name=name, hovertemplate="%{y:,.4~g}<extra>%{fullData.name}</extra>")
    figure.update_layout(yaxis={"title": title, "rangemode": "tozero"}, xaxis={"type": "date"}, hovermode="x unified")
    return {**(found := plain(figure)), "layout": {**found["layout"], "height": HEIGHT}}


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
