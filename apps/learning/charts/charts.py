"""Charts of jobs: curves grouped into plain Plotly figures over any number of jobs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from apps.learning.charts.curves import Axis, Curves, column_means, short, thinned
from apps.ui.figures import DASHES

WIDTH = 480
AXIS_TITLES = {"step": "step", "tokens": "tokens trained", "time": "seconds of training"}


@dataclass(frozen=True)
class Chart:
    """One chart. `curves` is a pattern for names of metrics.

    `kind`: `lines`, `stack` (stacked shares) or `bars` (values of the last line). Shares of several jobs cannot be stacked;
    their `overlay` curves are drawn as lines instead.
    """

    name: str
    title: str
    about: str
    curves: str
    kind: str = "lines"
    share: bool = False
    from_zero: bool = False
    overlay: str = ""


@dataclass(frozen=True)
class DrawOptions:
    """Requested drawing: x axis, smoothing, and number of screen columns."""

    axis: Axis
    smooth: bool
    width: int


CHARTS = (
    Chart("reward", "Reward", "Mean reward of the rows of a step.", r"reward|role/[^/]+/reward"),
    Chart("solved", "Toy score", "Shares by the toy’s own rule.", r"toy/(solved|tool_rate|verifier1)", share=True),
    Chart(
        "held_out",
        "Held out",
        "Problems held out from training: share of a toy’s problems solved, or nats per token of texts; with a 95 % interval.",
        r"held_out/.+",
    ),
    Chart(
        "passrate",
        "Groups by pass rate",
        "Shares of groups by mean reward (the pass rate where rewards are 0 or 1). Groups at 0 and 1 give no signal.",
        r"passrate/.+",
        "stack",
        share=True,
        overlay=r"passrate/[01]",
    ),
    Chart("components", "Parts of the reward", "Mean per turn, over all turns played.", r"reward/.+"),
    Chart(
        "tools",
        "Tools",
        "Shares of turns that called a tool or were unreadable, and of failed calls.",
        r"tool_calls|tool_errors|unread",
        share=True,
    ),
    Chart(
        "silent",
        "Silent groups",
        "Share of groups whose rewards are all equal.",
        r"silent|role/[^/]+/silent",
        share=True,
    ),
    Chart(
        "rates",
        "Verifiers’ rates",
        "Wrong answers rejected (TPR) and right answers accepted (TNR), by role.",
        r"role/[^/]+/(found|spared)",
        share=True,
    ),
    Chart(
        "votes",
        "Votes k of n",
        "Share of rows by number of passing votes, in the last step.",
        r"votes/\d+",
        "bars",
        share=True,
    ),
    Chart(
        "lemmas",
        "Lemmas",
        "Mean value v(l) of lemmas, and share of rounds without a new lemma.",
        r"(toy/)?(mean_value|masked_rounds)",
    ),
    Chart("loss", "Loss", "Objective of the optimiser.", r"loss|value_loss|token_rm_loss"),
    Chart("entropy", "Entropy", "Entropy of the policy at its own tokens, in nats.", r"entropy"),
    Chart("kl", "KL to the reference", "KL divergence, in nats per token.", r"kl"),
    Chart(
        "drift",
        "KL to the rows’ policy",
        "KL divergence from the policy that wrote the rows, in nats per token.",
        r"kl_behaviour",
    ),
    Chart("clip", "Clipped", "Share of tokens with a clipped ratio.", r"clip_low|clip_high|mastered", share=True),
    Chart(
        "ess",
        "Effective sample size",
        "Share of the tokens; 1 where each token is as probable as when it was sampled.",
        r"ess",
        share=True,
    ),
    Chart("ratio", "Highest ratio", "Highest ratio of a token’s probability now and at sampling.", r"ratio_max"),
    Chart(
        "lengths",
        "Lengths",
        "Tokens per completion: mean and longest.",
        r"completion_length|longest_completion",
        from_zero=True,
    ),
    Chart(
        "truncated",
        "Cut off",
        "Share of completions that reached the limit, and of tool tokens.",
        r"truncated|masked_tokens",
        share=True,
    ),
    Chart("gradient", "Gradient", "Norm before clipping.", r"grad_norm", from_zero=True),
    Chart("rate", "Learning rate", "Scheduled learning rate.", r"learning_rate", from_zero=True),
    Chart(
        "time",
        "Time",
        "Shares of the trainer’s time: learning, playing, waiting for runs, and measuring held-out problems.",
        r"time/.+",
        "stack",
        share=True,
        overlay=r"time/train",
    ),
    Chart("speed", "Speed", "Tokens trained per second.", r"tokens_per_second", from_zero=True),
    Chart("useful", "Useful tokens", "Share of the computed tokens that are not padding.", r"useful_tokens", share=True),
    Chart("stale", "Staleness", "Age of rows in policy versions, and rows dropped as too old.", r"lag|dropped", from_zero=True),
)
_WORDS = {
    "tool_rate": "asks the tool",
    "verifier1": "Verifier 1 right",
    "found": "TPR",
    "spared": "TNR",
    "mean_value": "mean v(l)",
    "masked_rounds": "rounds without a lemma",
    "held_out/score": "score",
    "held_out/low": "lower bound",
    "held_out/high": "upper bound",
    "kl": "KL to the reference",
    "kl_behaviour": "KL to the rows’ policy",
    "passrate/0": "none",
    "passrate/0-25": "up to 25 %",
    "passrate/25-50": "up to 50 %",
    "passrate/50-75": "up to 75 %",
    "passrate/75-99": "up to 99 %",
    "passrate/1": "all",
    "clip_low": "below",
    "clip_high": "above",
    "silent": "all",
    "token_rm_loss": "token reward model",
    "time/train": "learning",
    "time/rollout": "playing",
    "time/idle": "waiting for runs",
    "time/held_out": "measuring",
    "reward/episode": "episode",
    "reward/unread": "unreadable actions",
    "reward/length": "length",
    "tool_calls": "turns with a tool",
    "tool_errors": "failed calls",
    "unread": "unreadable turns",
}


def word_of(curve: str) -> str:
    """Displayed name of a curve."""
    role = re.fullmatch(r"role/([^/]+)/(\w+)", curve)
    if role:
        return f"{role[1]} {_WORDS[role[2]]}" if role[2] in ("found", "spared") else role[1]
    plain = curve.removeprefix("toy/")
    return _WORDS.get(plain) or plain.replace("_", " ").replace("votes/", "k = ")


def charts_of(jobs: Sequence[tuple[str, Curves]], *, axis: Axis, smooth: bool, width: int = WIDTH) -> list[dict[str, Any]]:
    """Charts with data, as `{name, title, about, figure}`; `jobs` by title, the page's own first."""
    found, drawn = [], DrawOptions(axis, smooth, width)
    for one in CHARTS:
        chart = replace(one, curves=one.overlay, kind="lines") if one.overlay and len(jobs) > 1 else one
        traces: list[dict[str, Any]] = []
        for place, (title, curves) in enumerate(jobs):
            traces += _traces(chart, title, curves, place, drawn)
        if not traces:
            continue
        if len(jobs) == 1:
            for trace in traces:
                trace["name"] = trace["meta"]["curve"]
        figure = {"data": traces, "layout": _layout(chart, axis, many=len(traces) > 1)}
        found.append({"name": chart.name, "title": chart.title, "about": chart.about, "figure": figure})
    return found


def _traces(chart: Chart, title: str, curves: Curves, place: int, drawn: DrawOptions) -> list[dict[str, Any]]:
    names = [name for name in curves.names if re.fullmatch(chart.curves, name)]
    if not names:
        return []
    if chart.kind == "bars":
        return _bars(title, names, curves, place)
    if chart.kind == "stack":
        return _stack(title, names, curves, drawn)
    return [_line(title, name, curves, (place, number), drawn) for number, name in enumerate(names)]


def _line(title: str, name: str, curves: Curves, place: tuple[int, int], drawn: DrawOptions) -> dict[str, Any]:
    x, y = curves.axis(drawn.axis), curves.values(name, smooth=drawn.smooth)
    chosen = thinned(x, y, drawn.width)
    word = word_of(name)
    return {
        "type": "scatter",
        "mode": "lines" if len(chosen) > 1 else "markers",
        "x": short(x[chosen], 9),
        "y": short(y[chosen]),
        "customdata": [int(step) for step in curves.steps()[chosen]],
        "name": f"{word} · {title}",
        "line": {"width": 1.5, "dash": DASHES[place[0] % len(DASHES)]},
        "hovertemplate": "%{y:.4g}<br>step %{customdata}<extra>%{fullData.name}</extra>",
        "meta": {"curve": word, "job": place[0], "number": place[1]},
    }


def _stack(title: str, names: list[str], curves: Curves, drawn: DrawOptions) -> list[dict[str, Any]]:
    order = [name for name in _WORDS if name in names]
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
            "hovertemplate": "%{y:.0%}<extra>%{fullData.name}</extra>",
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


def _layout(chart: Chart, axis: Axis, *, many: bool) -> dict[str, Any]:
    y: dict[str, Any] = {"tickformat": ".0%", "range": [-0.02, 1.04]} if chart.share else {"exponentformat": "e"}
    y |= {"rangemode": "tozero"} if chart.from_zero else {}
    title = "passing votes" if chart.kind == "bars" else AXIS_TITLES[axis]
    return {
        "xaxis": {"title": {"text": title}, **({"type": "category"} if chart.kind == "bars" else {})},
        "yaxis": y,
        "margin": {"l": 52, "r": 8, "t": 8, "b": 40},
        "showlegend": many,
        "legend": {"orientation": "h", "y": -0.4},
        "hovermode": "closest",
        "height": 260,
    }
