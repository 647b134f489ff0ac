"""A job's page shows what the job is waiting for: a device, its trainer, rows, or nothing."""

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
from apps.learning.jobs.waiting import waits_for
from apps.learning.models import JobState, TrainingJob
from apps.learning.rollouts.plan import RolloutPlan
from apps.runs.models import RunStatus
from tests.cast import person
from tests.training_jobs.factory import a_job

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data(training: Settings) -> Settings:
    return training


def trained(state: str = "running", *, stream: dict[str, Any] | None = None, **changes: Any) -> TrainingJob:
    """A job with a trainer in `state`, and a producer in the state `stream`."""
    job = a_job(state=JobState.RUNNING, attempt=1, started_at=timezone.now(), **changes)
    job.folder.mkdir(parents=True)
    (job.folder / "state.json").write_text(json.dumps({"state": state, "attempt": 1}))
    if stream is not None:
        (job.folder / "stream.json").write_text(json.dumps(stream))
    return job


def playing(stream: dict[str, Any], **changes: Any) -> TrainingJob:
    plan = RolloutPlan(problems=("p",), scaffold="self_check", preset="quick", alias="a", runs_a_group=4)
    config = {"rows_per_step": 8, "source": {"kind": "stream"}}
    return trained(stream=stream, rollouts=plan.model_dump(mode="json"), config=config, **changes)


def shards(job: TrainingJob, *sizes: int, reading: str = "", held: int = 0) -> TrainingJob:
    """Add shards with `sizes` rows; the trainer is reading `reading` and holds `held` rows for an incomplete step."""
    (job.folder / "rows").mkdir()
    for number, size in enumerate(sizes):
        pq.write_table(pa.table({"reward": [0.0] * size}), job.folder / "rows" / f"{number}.parquet")
    (job.folder / "state.json").write_text(json.dumps({"state": "running", "attempt": 1, "reading": reading, "held": held}))
    return job


def test_a_queued_job_waits_for_the_device_of_another_job() -> None:
    first, job = a_job(), a_job()
    assert waits_for(first, {}) == ["The train worker will start it within seconds."]
    assert waits_for(job, {}) == ["1 job ahead in the queue."]
    trained(title="The busy one")
    assert waits_for(job, {}) == ["Waiting for a device behind 1 other job: The busy one is being trained."]


def test_a_claimed_job_waits_for_its_trainer() -> None:
    claimed = a_job(state=JobState.STARTING, attempt=1)
    assert waits_for(claimed, {}) == ["The trainer is starting."]
    assert waits_for(trained("starting"), {}) == ["The trainer is reading its rows and loading the model."]


def test_a_job_with_own_runs_shows_how_many_rows_its_next_step_lacks_and_why() -> None:
    job = shards(playing({"state": "running", "waiting": 1, "silent": 2}, step=2), 16, 3, reading="0.parquet")
    runs: dict[str, int] = {RunStatus.RUNNING: 2, RunStatus.QUEUED: 1, RunStatus.FINISHED: 9}
    assert waits_for(job, runs) == [
        "Step 3 is waiting for rows: 3 of 8 are ready.",
        "3 runs are under way; each group compares 4 runs on a problem.",
        "1 of them is waiting for an orchestrator.",
        "1 group is incomplete.",
        "2 complete groups gave no rows, because all answers in each earned the same.",
    ]


def test_rows_that_the_trainer_holds_count_and_those_it_dropped_do_not() -> None:
    """The trainer has read all rows and kept one."""
    job = shards(playing({"state": "running"}, step=2), 16, 40, reading="1.parquet", held=1)
    assert waits_for(job, {}) == [
        "Step 3 is waiting for rows: 1 of 8 are ready.",
        "No runs are under way; the next ones will start within seconds.",
    ]


def test_a_job_does_not_wait_for_rows_where_there_are_enough_or_no_more_will_come() -> None:
    enough = shards(playing({"state": "running"}, step=2), 16, 8, reading="0.parquet")
    last = shards(playing({"state": "ended"}, step=2), 16, 3, reading="0.parquet")
    assert waits_for(enough, {RunStatus.RUNNING: 1}) == waits_for(last, {RunStatus.RUNNING: 1}) == []


def test_a_job_that_trains_or_has_ended_waits_for_nothing() -> None:
    assert waits_for(trained(), {}) == []
    assert waits_for(a_job(state=JobState.FINISHED), {}) == []


def test_the_page_shows_what_the_job_waits_for(client_for: Callable[[User | None], Client]) -> None:
    job = playing({"state": "running", "rows": 0})
    page = client_for(person("alice")).get(f"/learning/jobs/{job.public_id}/").content.decode()
    assert "Step 1 is waiting for rows: 0 of 8 are ready." in page
