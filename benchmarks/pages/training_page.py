"""The live page of a training job with 50,000 points a curve: the cost of an update on the server and in the browser."""

import json
import math
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.figures import Figure, Skipped
from benchmarks.stage import set_up

POINTS, UPDATES = 50_000, 20
LOOKS, LOOK_EVERY_MS, SETTLING_MS = 8, 2_500, 8_000
#: Records Plotly's time for each chart, and every task of the main thread over 50 ms.
_OBSERVE = """() => {
  window.drawn = [];
  window.tasks = [];
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => window.tasks.push(entry.duration)))
    .observe({ entryTypes: ["longtask"] });
  const react = Plotly.react;
  Plotly.react = (...given) => {
    const began = performance.now();
    const made = react(...given);
    window.drawn.push(performance.now() - began);
    return made;
  };
}"""
ROLES = ("solver", "verifier1", "corrector1", "verifier2", "corrector2")
#: The curves of a job with MarsRL's five roles.
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
    """Times of the first request, which reads the whole file, and of an update, which reads new lines and thins all curves."""
    stage = set_up()
    points = 2_000 if quick else POINTS
    try:
        seen = _in_the_browser(stage, points, looks=2 if quick else LOOKS)
    except Skipped:
        seen = []
    return [*_on_the_server(points), *seen]


def _on_the_server(points: int) -> list[Figure]:
    from apps.learning.charts.curves import curves_of
    from apps.learning.charts.drawing import charts_of

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


def _in_the_browser(stage: Path, points: int, *, looks: int) -> list[Figure]:
    """Measure a window of 1,280 × 900 at the top of the page. Charts outside it are not drawn."""
    from benchmarks.pages import viewers
    from benchmarks.processes import Processes

    cookie = viewers.session_cookie()
    job = _a_job("viewer")
    job.folder.mkdir(parents=True)
    path = job.folder / "metrics.jsonl"
    path.write_text("".join(_line(step) for step in range(1, points + 1)))
    with (
        Processes("valkey", "web", folder=stage),
        viewers.page_at(f"/learning/jobs/{job.public_id}/", cookie) as page,
    ):
        page.locator(".js-plotly-plot").first.wait_for()
        page.wait_for_timeout(SETTLING_MS)
        page.evaluate(_OBSERVE)
        for number in range(looks):
            with path.open("a") as file:
                file.write(_line(points + number + 1))
            page.wait_for_timeout(LOOK_EVERY_MS)
        drawn: list[float] = page.evaluate("window.drawn")
        tasks: list[float] = page.evaluate("window.tasks")
        charts = page.locator("[data-chart]").count()
    if not drawn:
        raise SystemExit("the page drew nothing")
    return [
        Figure("longest task of the page's main thread meanwhile (0: none over 50)", max(tasks, default=0), "ms", target=100.0),
        Figure("longest drawing of one chart", max(drawn), "ms", target=100.0),
        Figure("drawing of an update, all charts in sight together", sum(drawn) / looks, "ms"),
        Figure("charts in sight", round(len(drawn) / looks, 1), f"of {charts}"),
    ]


def _a_job(owner: str) -> Any:
    from django.utils import timezone

    from apps.accounts.models import User
    from apps.learning.models import JobState, TrainingJob

    now = timezone.now()
    config = {"format": 1, "recipe": "marsrl", "base": {"tiny": {}}, "parent": "tiny", "source": {"kind": "toy", "toy": "trio"}}
    config |= {"steps": 2 * POINTS, "save_every": 5, "seed": 0, "learning_rate": 0.05}
    values = {"steps": 2 * POINTS, "queued_at": now, "started_at": now, "state": JobState.RUNNING}
    user = User.objects.get(username=owner)
    return TrainingJob.objects.create(
        title="A benchmark", recipe="marsrl", base_title="Tiny", owner=user, config=config, **values
    )
