"""Jobs whose rewards a grader gives, for tests: who writes a text, and who grades it."""

from functools import partial
from typing import Any

import pytest
from pytest_django import Settings

from apps.experiments.models import CellState
from apps.learning.models import TrainingJob
from apps.learning.rollouts.rollouts import Rollouts
from apps.reasoning.inference.scripted import ScriptedBackend
from apps.runs.models import LIVE, REWARD, Run
from tests.datasets.factory import version_of
from tests.datasets.streams import shards
from tests.reasoning.play import proof
from tests.runs.driving import drive, with_model
from tests.training_jobs.playing import MODELS, Stage, a_playing_job, poll_until

MARKER = """
[marker]
backend = "openai_http"
title = "Marker"
model = "none"
base_url = "http://127.0.0.1:9/v1"
"""


@pytest.fixture(autouse=True)
def marker(stage: Stage, settings: Settings) -> None:
    settings.MODELS_FILE.write_text(MODELS + MARKER)


def a_job(runs: int = 2, **plan: Any) -> TrainingJob:
    version_of()
    graded = {"judge": "grader", "reward_workflow": "single_turn", "reward_alias": "marker"}
    more = {"scaffold": "single_call", "runs_a_group": runs, "at_once": runs, **graded}
    return a_playing_job("turn_grpo", **(more | plan))


def written(text: str, _: object) -> str:
    return proof(text, "So it holds.")


def write(stage: Stage, *texts: str) -> None:
    """Drive the oldest sent runs: each hands in one text."""
    for text in texts:
        stage.drive(answer=partial(written, text))


def write_last(stage: Stage, *texts: str) -> None:
    """As `write`, but the newest runs."""
    stage.sent.rotate(len(texts))
    write(stage, *texts)


def grade(stage: Stage, points: int | None) -> None:
    """Drive the oldest grading; None: its model gives no answer."""
    run = Run.objects.get(pk=stage.sent.popleft())
    assert run.preset == REWARD
    answer = f"<grading><feedback>Fine.</feedback><points>{points}</points></grading>"
    faults = {} if points is not None else {"fail": True}
    drive(run, with_model(ScriptedBackend(lambda _: answer if not faults else "I like turtles."), "marker"))


def end_first(stage: Stage) -> None:
    """End the oldest sent run as its cancel command does; a single call may be faster than the command."""
    run = Run.objects.get(pk=stage.sent.popleft())
    assert run.commands.get().name == "cancel"
    Run.objects.filter(pk=run.pk).update(status="cancelled", status_reason="Cancelled.")


def live_gradings() -> int:
    cells = Run.objects.filter(cell__state=CellState.RUNNING, status__in=LIVE).count()
    return cells + Run.objects.filter(preset=REWARD, status__in=LIVE).count()


def rewards_of(job: TrainingJob) -> list[float]:
    return sorted(row.reward for rows in shards(job.folder) for row in rows if row.reward is not None)


def until_end(one: Rollouts, job: TrainingJob) -> None:
    poll_until(one, (job.folder / "rows" / "END").exists)
