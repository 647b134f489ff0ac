"""The live page of a training job with 50,000 points a curve: what an update costs on the server."""

import json
import math
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.figures import Figure
from benchmarks.stage import set_up

POINTS, UPDATES = 50_000, 20
ROLES = ("solver", "verifier1", "corrector1", "verifier2", "corrector2")
#: As many curves as a job of MarsRL's five roles has.
NAMES = (
    *("reward", "loss", "entropy", "kl", "grad_norm", "learning_rate", "clip_low", "clip_high", "completion_length"),
    *("longest_completion", "truncated", "silent", "tokens_per_second", "toy/solved", "ess", "ratio_max"),
    *(f"role/{role}/{what}" for role in ROLES for what in ("reward", "silent")),
    *(f"role/{role}/{what}" for role in ("verifier1", "verifier2") for what in ("found", "spared")),
    *("passrate/0", "passrate/0-25", "passrate/25-50", "passrate/50-75", "passrate/75-99", "passrate/1"),
)


def _line(step: int) -> str:
    values = {name: round(0.5 + 0.4 * math.sin(step * (1 + place) / 977), 6) for place, name in enumerate(NAMES)}
    return json.dumps({"step": step, "time": step / 2, "clock": 0.0, "attempt": 1, "tokens": 1000 * step, **values}) + "\n"


def figures(quick: bool = False) -> list[Figure]:
    """The first look reads the whole file; an update reads what came since and thins every curve again."""
    set_up()
    from apps.learning.charts import charts_of
    from apps.learning.curves import curves_of

    points = 2_000 if quick else POINTS
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        path = folder / "metrics.jsonl"
        path.write_text("".join(_line(step) for step in range(1, points + 1)))
        began = time.process_time()
        curves_of(folder)
        first = time.process_time() - began
        taken: list[float] = []
        smooth: list[float] = []
        for number in range(UPDATES):
            with path.open("a") as file:
                file.write(_line(points + number + 1))
            for spent, is_smooth in ((taken, False), (smooth, True)):
                began = time.process_time()
                text = json.dumps(charts_of([("job", curves_of(folder))], axis="step", smooth=is_smooth))
                spent.append(1000 * (time.process_time() - began))
    size = len(text) / 1024
    return [
        Figure(f"an update of {len(NAMES)} curves of {points:,} points", median(taken), "ms of CPU", target=100.0),
        Figure("the same, smoothed", median(smooth), "ms of CPU", target=100.0),
        Figure("what goes to the browser", size, "kB"),
        Figure("the first look at the job", first, "s of CPU"),
    ]
