"""Metrics are read incrementally, resumed attempts replace repeated steps, and a screen gets thinned curves."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.learning.charts.charts import CHARTS, word_of
from apps.learning.charts.curves import INERTIA, Curves, column_means, short, thinned
from apps.learning.charts.drawing import charts_of
from tests.training_jobs.factory import lines


def line(number: float, attempt: float = 1, **values: float) -> dict[str, float]:
    return {"step": number, "time": float(number), "clock": 0.0, "attempt": attempt, "tokens": 10.0 * number, **values}


def test_only_appended_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    curves = Curves(path)
    curves.read()
    assert curves.names == []
    lines(path, [line(1, loss=1.0), line(2, loss=0.5)])
    curves.read()
    at = curves.offset
    assert at == path.stat().st_size
    lines(path, [line(3, loss=0.25, kl=0.1)])
    curves.read()
    assert list(curves.values("loss")) == [1.0, 0.5, 0.25]
    assert np.array_equal(curves.values("kl"), [np.nan, np.nan, 0.1], equal_nan=True)
    assert curves.last == {"loss": 0.25, "kl": 0.1}


def test_an_incomplete_line_is_read_later_and_a_broken_one_is_skipped(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    whole = json.dumps(line(2, loss=2.0)) + "\n"
    lines(path, [line(1, loss=1.0)])
    path.write_text(path.read_text() + whole[:20])
    curves = Curves(path)
    curves.read()
    assert list(curves.values("loss")) == [1.0]
    path.write_text(path.read_text() + whole[20:] + '{"step": 3, "lo\n' + json.dumps(line(4, loss=4.0)) + "\n")
    curves.read()
    assert list(curves.values("loss")) == [1.0, 2.0, 4.0]


def test_a_resumed_attempt_replaces_the_steps_it_repeats(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines(path, [line(step, loss=float(step)) for step in range(1, 8)])
    lines(path, [line(step, 2, time=step - 4.0, loss=10.0 + step) for step in range(5, 7)])
    curves = Curves(path)
    curves.read()
    assert list(curves.axis("step")) == [1, 2, 3, 4, 5, 6]
    assert list(curves.values("loss")) == [1, 2, 3, 4, 15, 16]
    assert list(curves.axis("time")) == [1, 2, 3, 4, 5, 6], "time continues from the end of the previous attempt"


def test_smoothing_is_debiased_and_the_same_whether_read_at_once_or_line_by_line(tmp_path: Path) -> None:
    path, values = tmp_path / "metrics.jsonl", [1.0, 0.0, float("nan"), 3.0, 2.0]
    slow = Curves(path)
    for step, value in enumerate(values, 1):
        lines(path, [line(step) if value != value else line(step, loss=value)])
        slow.read()
        slow.values("loss", smooth=True)
    fast = Curves(path)
    fast.read()
    expected, mean, count = [], 0.0, 0
    for value in values:
        if value != value:
            expected.append(value)
            continue
        mean, count = INERTIA * mean + (1 - INERTIA) * value, count + 1
        expected.append(mean / (1 - INERTIA**count))
    assert list(fast.values("loss", smooth=True)) == pytest.approx(expected, nan_ok=True)
    assert list(slow.values("loss", smooth=True)) == pytest.approx(expected, nan_ok=True)


def test_a_smoothed_curve_lies_over_its_pale_values(tmp_path: Path) -> None:
    lines(tmp_path / "metrics.jsonl", [line(step, loss=1.0 / step) for step in (1, 2, 3)])
    curves = Curves(tmp_path / "metrics.jsonl")
    curves.read()
    (chart,) = charts_of([("one", curves)], axis="step", smooth=True)
    pale, smooth = chart["figure"]["data"]
    assert (pale["y"], pale["meta"]["pale"], pale["showlegend"], pale["hoverinfo"]) == (
        [1.0, 0.5, 0.33333],
        True,
        False,
        "skip",
    )
    assert smooth["y"] == pytest.approx([1.0, (0.09 + 0.05) / 0.19, (0.081 + 0.045 + 0.1 / 3) / 0.271], abs=1e-4)
    assert not chart["figure"]["layout"]["showlegend"]


def test_an_interval_is_a_band_around_its_score(tmp_path: Path) -> None:
    bounds = {"held_out/low": 0.25, "held_out/high": 0.75}
    lines(
        tmp_path / "metrics.jsonl", [line(1, **bounds, **{"held_out/score": 0.5}), line(2, **bounds, **{"held_out/score": 0.7})]
    )
    curves = Curves(tmp_path / "metrics.jsonl")
    curves.read()
    (chart,) = charts_of([("one", curves)], axis="step", smooth=True)
    low, high, score = chart["figure"]["data"]
    assert score["y"] == [0.5, 0.7], "a smoothed score would leave its own interval"
    assert (low["y"], high["y"], high["fill"]) == ([0.25, 0.25], [0.75, 0.75], "tonexty")
    assert {edge["meta"]["band"] for edge in (low, high)} == {True}
    assert (score["name"], score["text"][0]) == ("score", " (0.25 to 0.75)")
    assert chart["figure"]["layout"]["hovermode"] == "x unified"


def test_only_lines_of_positive_values_may_have_a_logarithmic_axis(tmp_path: Path) -> None:
    shares = {"passrate/0": 0.25, "passrate/1": 0.75, "capped": 0.1, "masked_rows": 0.2}
    lines(tmp_path / "metrics.jsonl", [line(step, loss=step - 1.0, grad_norm=1.0 / step, **shares) for step in (1, 2)])
    curves = Curves(tmp_path / "metrics.jsonl")
    curves.read()
    found = {chart["name"]: chart for chart in charts_of([("one", curves)], axis="step", smooth=False)}
    may = {name: chart["may_be_log"] for name, chart in found.items()}
    assert may == {"passrate": False, "loss": False, "others": True, "gradient": True}
    assert [trace["name"] for trace in found["others"]["figure"]["data"]] == ["tokens at the cap", "rows left out"]


def test_a_shorter_file_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    lines(path, [line(1, loss=1.0), line(2, loss=2.0)])
    curves = Curves(path)
    curves.read()
    path.write_text(json.dumps(line(1, loss=9.0)) + "\n")
    curves.read()
    assert list(curves.values("loss")) == [9.0]


@given(st.lists(st.floats(-5, 5) | st.just(float("nan")), min_size=1, max_size=400), st.integers(1, 30))
def test_thinning_keeps_the_lowest_the_highest_and_both_ends(values: list[float], width: int) -> None:
    x, y = np.arange(len(values), dtype=float), np.array(values)
    chosen = thinned(x, y, width)
    there = np.flatnonzero(np.isfinite(y))
    assert set(chosen) <= set(there)
    assert list(chosen) == sorted(chosen)
    assert len(chosen) <= 2 * width + 2
    if len(there):
        assert {there[0], there[-1]} <= set(chosen)
        assert (y[chosen].min(), y[chosen].max()) == (y[there].min(), y[there].max())


def test_thinning_finds_a_single_spike_among_fifty_thousand_points() -> None:
    x, y = np.arange(50_000.0), np.zeros(50_000)
    y[31_415] = 9.0
    chosen = thinned(x, y, 400)
    assert 31_415 in chosen
    assert len(chosen) <= 802


def test_stacked_shares_keep_their_sum() -> None:
    x, a = np.arange(5000.0), np.random.default_rng(0).random(5000)
    columns, (one, other) = column_means(x, [a, 1 - a], 100)
    assert len(columns) <= 100
    assert one + other == pytest.approx(np.ones(len(columns)))


def test_numbers_are_rounded_to_five_significant_digits() -> None:
    assert short(np.array([0.0, 123456.7, -0.000123456, 1.0])) == [0.0, 123460.0, -0.00012346, 1.0]


def _figure(charts: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = next(chart for chart in charts if chart["name"] == name)["figure"]["data"]
    return found


def test_charts_show_only_measured_curves(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    roles = {"role/solver/reward": 0.9, "role/verifier1/reward": 0.6, "role/solver/silent": 0.1}
    shares = {"passrate/0": 0.25, "passrate/1": 0.75, "votes/0": 0.5, "votes/4": 0.5}
    lines(path, [line(step, loss=1.0 / step, **roles, **shares) for step in (1, 2, 3)])
    curves = Curves(path)
    curves.read()
    found = {chart["name"]: chart["figure"]["data"] for chart in charts_of([("one", curves)], axis="tokens", smooth=False)}
    assert set(found) == {"reward", "passrate", "silent", "votes", "loss"}
    assert [trace["name"] for trace in found["reward"]] == ["solver", "verifier1"]
    assert found["loss"][0]["x"] == [10.0, 20.0, 30.0]
    assert found["loss"][0]["customdata"] == [1, 2, 3]
    assert found["votes"][0]["x"] == ["0", "4"]
    both = charts_of([("one", curves), ("two", curves)], axis="step", smooth=True)
    loss = [trace for trace in _figure(both, "loss") if trace.get("showlegend", True)]
    assert [(trace["name"], trace["line"]["dash"]) for trace in loss] == [("loss · one", "solid"), ("loss · two", "dot")]


def test_every_band_of_a_stack_has_its_own_colour(tmp_path: Path) -> None:
    names = ["passrate/0", "passrate/0-25", "passrate/25-50", "passrate/50-75", "passrate/75-99", "passrate/1"]
    lines(tmp_path / "metrics.jsonl", [line(step, **dict.fromkeys(names, 1 / 6)) for step in (1, 2)])
    curves = Curves(tmp_path / "metrics.jsonl")
    curves.read()
    (chart,) = charts_of([("one", curves)], axis="step", smooth=False)
    shades = [trace["meta"]["shade"] for trace in chart["figure"]["data"]]
    assert shades == sorted(set(shades))
    assert (len(shades), shades[0], shades[-1]) == (6, 0, 4)


def test_shares_of_several_jobs_are_drawn_as_lines(tmp_path: Path) -> None:
    shares = {"passrate/0": 0.25, "passrate/50-75": 0.5, "passrate/1": 0.25, "time/idle": 0.75, "time/train": 0.25}
    lines(tmp_path / "metrics.jsonl", [line(step, **shares) for step in (1, 2)])
    curves = Curves(tmp_path / "metrics.jsonl")
    curves.read()
    alone = {chart["name"]: chart["figure"]["data"] for chart in charts_of([("one", curves)], axis="step", smooth=False)}
    assert [trace["name"] for trace in alone["time"]] == ["learning", "waiting for runs"]
    assert {trace["stackgroup"] for trace in alone["time"] + alone["passrate"]} == {"groups"}
    found = charts_of([("one", curves), ("two", curves)], axis="step", smooth=False)
    both = {chart["name"]: chart["figure"]["data"] for chart in found}
    assert [trace["name"] for trace in both["passrate"]] == ["none · one", "all · one", "none · two", "all · two"]
    assert [trace["name"] for trace in both["time"]] == ["learning · one", "learning · two"]
    assert not any("stackgroup" in trace for trace in both["time"] + both["passrate"])


def test_chart_names_are_unique_and_curves_have_labels() -> None:
    assert len({chart.name for chart in CHARTS}) == len(CHARTS)
    assert word_of("role/verifier1/found") == "verifier1 TPR"
    assert word_of("role/verifier1/silent") == "verifier1"
    assert word_of("toy/mean_value") == word_of("mean_value") == "mean v(l)"
    assert word_of("grad_norm") == "grad norm"
