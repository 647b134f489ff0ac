"""A job's page says in plain words what it waits for: a device, its trainer, rows; and nothing where it waits for nothing."""

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import User
from apps.learning.models import JobState, TrainingJob
from apps.learning.rollout_plan import RolloutPlan
from apps.learning.waiting import waits_for
from apps.runs.models import RunStatus
from tests.cast import person
from tests.training_jobs.factory import a_job

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data(training: Settings) -> Settings:
    return training


def trained(state: str = "running", *, told: dict[str, Any] | None = None, **changes: Any) -> TrainingJob:
    """A job that a trainer works on, which says `state`; its producer says `told`."""
    job = a_job(state=JobState.RUNNING, attempt=1, started_at=timezone.now(), **changes)
    job.folder.mkdir(parents=True)
    (job.folder / "state.json").write_text(json.dumps({"state": state, "attempt": 1}))
    if told is not None:
        (job.folder / "stream.json").write_text(json.dumps(told))
    return job


def playing(told: dict[str, Any], **changes: Any) -> TrainingJob:
    plan = RolloutPlan(problems=("p",), scaffold="self_check", preset="quick", alias="a", runs_a_group=4)
    config = {"rows_per_step": 8, "source": {"kind": "stream"}}
    return trained(told=told, rollouts=plan.model_dump(mode="json"), config=config, **changes)


def shards(job: TrainingJob, *sizes: int, reading: str = "", held: int = 0) -> TrainingJob:
    """Shards of so many rows are there; the trainer reads `reading` and holds some for a step that is not full."""
    (job.folder / "rows").mkdir()
    for number, size in enumerate(sizes):
        pq.write_table(pa.table({"reward": [0.0] * size}), job.folder / "rows" / f"{number}.parquet")
    (job.folder / "state.json").write_text(json.dumps({"state": "running", "attempt": 1, "reading": reading, "held": held}))
    return job


def test_a_queued_job_waits_for_the_device_that_another_has() -> None:
    first, job = a_job(), a_job()
    assert waits_for(first, {}) == ["The train worker takes it within seconds."]
    assert waits_for(job, {}) == ["1 job came before it."]
    trained(title="The busy one")
    assert waits_for(job, {}) == ["It waits for a device, after 1 job that came before: The busy one is being trained."]


def test_a_job_that_was_taken_waits_for_its_trainer() -> None:
    taken = a_job(state=JobState.STARTING, attempt=1)
    assert waits_for(taken, {}) == ["The trainer is being started."]
    assert waits_for(trained("starting"), {}) == ["The trainer reads its rows and loads the model."]


def test_a_job_that_plays_for_itself_says_how_many_rows_its_next_step_lacks_and_why() -> None:
    job = shards(playing({"state": "running", "waiting": 1, "silent": 2}, step=2), 16, 3, reading="0.parquet")
    runs: dict[str, int] = {RunStatus.RUNNING: 2, RunStatus.QUEUED: 1, RunStatus.FINISHED: 9}
    assert waits_for(job, runs) == [
        "Step 3 waits for rows: 3 of 8 are there.",
        "3 runs are under way; 4 runs on a problem are compared with each other.",
        "1 of them waits for an orchestrator.",
        "1 group is not whole yet.",
        "2 whole groups taught nothing, because all answers in each earned the same.",
    ]


def test_rows_that_the_trainer_found_too_old_are_none_and_those_that_it_holds_are() -> None:
    """It has read everything there was, and kept one row."""
    job = shards(playing({"state": "running"}, step=2), 16, 40, reading="1.parquet", held=1)
    assert waits_for(job, {}) == [
        "Step 3 waits for rows: 1 of 8 are there.",
        "None of its runs is under way; the next ones begin within seconds.",
    ]


def test_it_waits_for_no_rows_where_there_are_enough_or_no_more_come() -> None:
    enough = shards(playing({"state": "running"}, step=2), 16, 8, reading="0.parquet")
    last = shards(playing({"state": "ended"}, step=2), 16, 3, reading="0.parquet")
    assert waits_for(enough, {RunStatus.RUNNING: 1}) == waits_for(last, {RunStatus.RUNNING: 1}) == []


def test_a_job_that_trains_or_has_ended_waits_for_nothing() -> None:
    assert waits_for(trained(), {}) == []
    assert waits_for(a_job(state=JobState.FINISHED), {}) == []


def test_its_page_says_it(client_for: Callable[[User | None], Client]) -> None:
    job = playing({"state": "running", "rows": 0})
    page = client_for(person("alice")).get(f"/learning/jobs/{job.public_id}/").content.decode()
    assert "Step 1 waits for rows: 0 of 8 are there." in page
