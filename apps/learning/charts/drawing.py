"""Plain Plotly figures of the charts, over any number of jobs. The page adds the colours (static/js/learning_job.js)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.learning.charts.charts import CHARTS, Chart, stack_order, word_of
from apps.learning.charts.curves import Axis, Curves, Numbers, column_means, short, thinned
from apps.ui.figures import DASHES

WIDTH = 480
AXIS_TITLES = {"step": "step", "tokens": "tokens trained", "time": "seconds of training"}
BOUNDS = ("/low", "/high")


@dataclass(frozen=True)
class DrawOptions:
    """Requested drawing: x axis, smoothing, and number of screen columns."""

    axis: Axis
    smooth: bool
    width: int


@dataclass(frozen=True)
class Line:
    """One curve of a job to draw: its displayed name, and its place (job, curve), which decides dash and colour."""

    name: str
    title: str
    curves: Curves
    place: tuple[int, int]

    @property
    def meta(self) -> dict[str, Any]:
        """What the page colours by."""
        return {"curve": word_of(self.name), "job": self.place[0], "number": self.place[1]}

    @property
    def dash(self) -> str:
        """Dash of the job."""
        return DASHES[self.place[0] % len(DASHES)]


def charts_of(
    jobs: Sequence[tuple[str, Curves]], *, axis: Axis, smooth: bool, width: int = WIDTH, charts: Sequence[Chart] = CHARTS
) -> list[dict[str, Any]]:
    """Charts with data, as `{name, title, about, figure, may_be_log}`; `jobs` by title, the page's own first."""
    found, drawn = [], DrawOptions(axis, smooth, width)
    for one in charts:
        chart = replace(one, curves=one.overlay, kind="lines") if one.overlay and len(jobs) > 1 else one
        traces: list[dict[str, Any]] = []
        for place, (title, curves) in enumerate(jobs):
            traces += _traces(chart, title, curves, place, drawn)
        if not traces:
            continue
        if len(jobs) == 1:
            for trace in traces:
                trace["name"] = trace["meta"]["curve"]
        figure = {"data": traces, "layout": _layout(chart, axis, traces)}
        may_be_log = chart.kind == "lines" and all(value > 0 for trace in traces for value in trace["y"])
        words = {"name": chart.name, "title": chart.title, "about": chart.about}
        found.append(words | {"figure": figure, "may_be_log": may_be_log})
    return found


def _traces(chart: Chart, title: str, curves: Curves, place: int, drawn: DrawOptions) -> list[dict[str, Any]]:
    names = [name for name in curves.names if re.fullmatch(chart.curves, name)]
    if not names:
        return []
    if chart.kind == "bars":
        return _bars(title, names, curves, place)
    if chart.kind == "stack":
        return _stack(title, names, curves, drawn)
    own = [name for name in names if not _is_bound(name, names)]
    return [
        trace
        for number, name in enumerate(own)
        for trace in _line(Line(name, title, curves, (place, number)), bounds=_bounds(name, names), drawn=drawn)
    ]


def _is_bound(name: str, names: Sequence[str]) -> bool:
    head, _, last = name.rpartition("/")
    return f"/{last}" in BOUNDS and f"{head}/score" in names


def _bounds(name: str, names: Sequence[str]) -> list[str]:
    """Curves of the lower and upper bound of a curve; empty without both."""
    found = [name.removesuffix("/score") + bound for bound in BOUNDS] if name.endswith("/score") else []
    return found if all(one in names for one in found) else []


def _line(line: Line, *, bounds: Sequence[str], drawn: DrawOptions) -> list[dict[str, Any]]:
    """Traces of a curve: the band of its bounds, its pale values below a smoothed line, and the line itself.

    A curve with bounds is never smoothed: it would leave its own interval.
    """
    curves, x = line.curves, line.curves.axis(drawn.axis)
    raw = curves.values(line.name)
    is_smooth = drawn.smooth and not bounds
    y = curves.values(line.name, smooth=True) if is_smooth else raw
    chosen = thinned(x, y, drawn.width)
    names_steps = drawn.axis != "step" or len(chosen) < np.isfinite(y).sum()  # Else the hover's title names the step of all.
    trace: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines" if len(chosen) > 1 else "markers",
        "x": short(x[chosen], 9),
        "y": short(y[chosen]),
        "customdata": [int(step) for step in curves.steps()[chosen]],
        "name": f"{word_of(line.name)} · {line.title}",
        "line": {"width": 1.5, "dash": line.dash},
        "hovertemplate": "%{y:.4g}%{text}" + (" at step %{customdata}" if names_steps else ""),
        "meta": line.meta,
    }
    below: list[dict[str, Any]] = []
    if bounds:
        low, high = (curves.values(name) for name in bounds)
        below += _band(line, x, (low, high), drawn)
        trace["text"] = [
            f" ({one:.4g} to {other:.4g})" for one, other in zip(short(low[chosen]), short(high[chosen]), strict=True)
        ]
    else:
        trace["hovertemplate"] = trace["hovertemplate"].replace("%{text}", "")
    if is_smooth and len(chosen) > 1:
        below.append(_under(line, x, raw, thinned(x, raw, drawn.width)) | {"meta": {**line.meta, "pale": True}})
    return [*below, trace]


def _band(line: Line, x: Numbers, bounds: tuple[Numbers, Numbers], drawn: DrawOptions) -> list[dict[str, Any]]:
    """The interval of a curve, filled from its lower to its upper bound."""
    low, high = bounds
    chosen = np.union1d(thinned(x, low, drawn.width), thinned(x, high, drawn.width))
    chosen = chosen[np.isfinite(low[chosen]) & np.isfinite(high[chosen])]
    edges = [_under(line, x, bound, chosen) | {"line": {"width": 0}} for bound in bounds]
    edges[1] |= {"fill": "tonexty"}
    return [edge | {"meta": {**line.meta, "band": True}} for edge in edges]


def _under(line: Line, x: Numbers, y: Numbers, chosen: NDArray[np.intp]) -> dict[str, Any]:
    """Trace below a line, without an entry of its own in legend and hover."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": short(x[chosen], 9),
        "y": short(y[chosen]),
        "name": f"{word_of(line.name)} · {line.title}",
        "line": {"width": 1, "dash": line.dash},
        "showlegend": False,
        "hoverinfo": "skip",
    }


def _stack(title: str, names: list[str], curves: Curves, drawn: DrawOptions) -> list[dict[str, Any]]:
    order = stack_order(names)
    x, shares = column_means(curves.axis(drawn.axis), [curves.values(name) for name in order], drawn.width)
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "stackgroup": "groups",
            "x": short(x, 9),
            "y": short(np.clip(share, 0, 1)),
            "name": f"{word_of(name)} · {title}",
            "line": {"width": 0.5},
            "hovertemplate": "%{y:.0%}",
            "meta": {"curve": word_of(name), "job": 0, "number": number, "shade": 4 * number / max(1, len(order) - 1)},
        }
        for number, (name, share) in enumerate(zip(order, shares, strict=True))
    ]


def _bars(title: str, names: list[str], curves: Curves, place: int) -> list[dict[str, Any]]:
    last = curves.last
    known = sorted((int(name.rpartition("/")[2]), last[name]) for name in names if name in last)
    if not known:
        return []
    return [
        {
            "type": "bar",
            "x": [str(k) for k, _ in known],
            "y": [share for _, share in known],
            "name": title,
            "hovertemplate": "%{y:.0%} with k = %{x}<extra></extra>",
            "meta": {"curve": title, "job": place, "number": place},
        }
    ]


def _layout(chart: Chart, axis: Axis, traces: Sequence[dict[str, Any]]) -> dict[str, Any]:
    y: dict[str, Any] = {"tickformat": ".0%", "range": [-0.02, 1.04]} if chart.share else {"exponentformat": "e"}
    y |= {"rangemode": "tozero"} if chart.from_zero else {}
    x: dict[str, Any] = {"title": {"text": "passing votes" if chart.kind == "bars" else AXIS_TITLES[axis]}}
    x |= {"type": "category"} if chart.kind == "bars" else {}
    x |= {"unifiedhovertitle": {"text": "step %{x}"}} if chart.kind != "bars" and axis == "step" else {}
    return {
        "xaxis": x,
        "yaxis": y,
        "margin": {"l": 52, "r": 8, "t": 8, "b": 40},
        "showlegend": sum(trace.get("showlegend", True) for trace in traces) > 1,
        "legend": {"orientation": "h", "y": -0.4},
        "hovermode": "closest" if chart.kind == "bars" else "x unified",
        "height": 260,
    }
