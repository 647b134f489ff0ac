"""Charts of many runs side by side: one curve of each run. The page adds colours and names (static/js/learning_job.js)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from apps.learning.charts.charts import CHARTS
from apps.learning.charts.curves import Axis, Curves
from apps.learning.charts.drawing import charts_of

#: Charts of runs with the only curve that each draws.
CURVES = {
    "reward": "reward",
    "held_out": "held_out/.+",
    "solved": "toy/solved",
    "loss": "loss",
    "entropy": "entropy",
    "kl": "kl",
    "drift": "kl_behaviour",
    "gradient": "grad_norm",
    "lengths": "completion_length",
    "rate": "learning_rate",
}
ONE_CURVE = tuple(replace(chart, curves=CURVES[chart.name]) for chart in CHARTS if chart.name in CURVES)
#: Runs whose curves together have the points of one page of `width` columns each; more runs have fewer points.
FULL_WIDTH_RUNS = 8
NARROWEST = 60


def charts_of_runs(runs: Sequence[tuple[str, Curves]], *, axis: Axis, smooth: bool, width: int) -> list[dict[str, Any]]:
    """Charts of runs by their public ids, which `meta.run` of each trace names."""
    columns = max(NARROWEST, width * FULL_WIDTH_RUNS // max(FULL_WIDTH_RUNS, len(runs)))
    found = charts_of(runs, axis=axis, smooth=smooth, width=columns, charts=ONE_CURVE)
    for chart in found:
        for trace in chart["figure"]["data"]:
            trace["meta"]["run"] = runs[trace["meta"]["job"]][0]
            if "hovertemplate" in trace and "at step" not in trace["hovertemplate"]:
                trace["hovertemplate"] += " at step %{customdata}"
        chart["figure"]["layout"] |= {"showlegend": False, "hovermode": "closest"}
    return found
