"""Jobs that make their own runs, for tests: runs are not enqueued, the test drives them."""

import time
from collections import deque
from typing import Any

from django.utils import timezone

from apps.learning.jobs.folders import prepare
from apps.learning.models import JobState, TrainingJob
from apps.learning.rollouts.plan import RolloutPlan
from apps.learning.rollouts.rollouts import Rollouts
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.runs.models import Run
from tests.datasets.factory import Answer, judged
from tests.reasoning.candidates import PASS
from tests.runs.driving import drive, with_model
from tests.training_jobs.factory import a_job

MODELS = """
[scripted]
backend = "scripted"
title = "Player"
options.script = "tests/player.toml"
"""


class Stage:
    """Queue of sent runs, driven by the test."""

    def __init__(self) -> None:
        self.sent: deque[int] = deque()

    def drive(self, verdict: str = PASS, *, answer: Answer | None = None) -> None:
        """Drive the oldest sent run to its end, with the same verdict everywhere or with `answer`."""
        run = Run.objects.get(pk=self.sent.popleft())
        drive(run, with_model(ScriptedBackend(answer or judged(verdict))))


def a_playing_job(recipe: str = "grpo_rubric", **plan: Any) -> TrainingJob:
    values: dict[str, Any] = {"scaffold": "solver_verifier_corrector", "preset": "quick", "alias": "scripted"}
    values |= {"problems": ("even-number",), "runs_a_group": 2, "visits": 1, "at_once": 2}
    config = {"recipe": recipe, "base": "b", "source": {"kind": "stream"}, "steps": 5000}
    job = a_job(config=config, rollouts=RolloutPlan(**(values | plan)).model_dump(mode="json"), state=JobState.RUNNING)
    TrainingJob.objects.filter(pk=job.pk).update(started_at=timezone.now())
    job.refresh_from_db()
    prepare(job.folder, job.config, None)
    return job


def poll_until(one: Rollouts, until: Any) -> None:
    """Poll until a condition holds."""
    deadline = time.monotonic() + 60
    while not until():
        assert time.monotonic() < deadline
        one.poll()
        assert one.trouble == ""
        time.sleep(0.05)
