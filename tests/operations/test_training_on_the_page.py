"""Training on the operations page and in `/metrics`: worker, queued and running jobs, heartbeats, and warnings."""

import json
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.accounts.models import Role, User
from apps.learning.models import JobState, TrainingJob
from apps.operations.concerns import concerns
from apps.operations.situation import situation
from apps.processes import pulse
from apps.processes.logs import process_name
from apps.processes.streams import sync_client
from tests.operations.test_metrics_for_prometheus import samples, scraper  # noqa: F401  (a fixture)
from tests.operations.test_the_page_of_staff import page_of
from tests.training_jobs.factory import a_job


@pytest.fixture(autouse=True)
def _healthy_installation(db: None, valkey: Any, worker_beats: Callable[..., None], settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    pulse.beat(valkey, "orchestrator", 0.0)
    worker_beats()


def under_way(silent_s: float | None = 1.0, **changes: Any) -> TrainingJob:
    """A job in training whose last heartbeat is `silent_s` seconds old; None: no heartbeat."""
    began = timezone.now() - timedelta(hours=1)
    values = {"state": JobState.RUNNING, "host": "gpu1", "device": "0,1", "step": 7, "started_at": began}
    job = a_job(**(values | changes))
    job.folder.mkdir(parents=True)
    if silent_s is not None:
        (job.folder / "heartbeat.json").write_text(json.dumps({"time": time.time() - silent_s, "step": 7, "pid": 1}))
    return job


def training_of(client: Client) -> str:
    page = page_of(client)
    return page[page.index("<h2>Training</h2>") : page.index("<h2>Web processes</h2>")]


def test_worker_and_jobs_are_shown(staff: Client, dana: User, valkey: Any) -> None:
    assert "No train worker is running" in training_of(staff)
    assert concerns(situation()) == [], "an installation without training jobs needs no train worker"
    pulse.beat(valkey, "trainer", 0.0)
    job = under_way(5.0)
    a_job()
    under_way(None, title="Just begun", device="", state=JobState.STARTING)
    found = training_of(staff)
    for words in (process_name(), '2</span> under way, <span class="num">1</span> queued', "7 of 20", "gpu1", "0,1", "5 s ago"):
        assert words in found
    assert "none yet" in found
    assert ">auto<" in found, "a worker with one device does not name it"
    assert concerns(situation()) == []
    assert f"/learning/jobs/{job.public_id}/" not in found, "the page of a job is for researchers"
    User.objects.filter(pk=dana.pk).update(role=Role.RESEARCHER)
    assert f"/learning/jobs/{job.public_id}/" in training_of(staff)


def test_jobs_without_a_worker_are_an_error_and_running_ones_a_warning(valkey: Any) -> None:
    under_way()
    assert [(one.level, one.text) for one in concerns(situation())] == [
        ("warn", "A training job is under way, and no train worker is running.")
    ]
    a_job()
    a_job()
    assert [(one.level, one.text) for one in concerns(situation())] == [
        ("error", "2 training jobs wait, and no train worker is running.")
    ]
    pulse.beat(valkey, "trainer", 0.0)
    assert concerns(situation()) == []


def test_a_trainer_without_recent_heartbeat_is_named(valkey: Any) -> None:
    pulse.beat(valkey, "trainer", 0.0)
    under_way(59.0)
    assert concerns(situation()) == []
    under_way(200.0, title="Frozen")
    [found] = concerns(situation())
    assert found.text == "The trainer of “Frozen” has been silent for 3 min 20 s."


def test_metrics_count_jobs_and_workers(scraper: Client, valkey: Any) -> None:  # noqa: F811
    assert ("training_silence_seconds", ()) not in samples(scraper), "without training jobs there is no value"
    pulse.beat(valkey, "trainer", 0.0)
    under_way(30.0)
    a_job()
    found = samples(scraper)
    assert found["processes", (("kind", "trainer"),)] == 1
    assert found["training_jobs", (("state", "running"),)] == 1
    assert found["training_jobs", (("state", "queued"),)] == 1
    assert found["training_jobs", (("state", "failed"),)] == 0
    assert found["training_silence_seconds", ()] == pytest.approx(30, abs=5)


def test_without_redis_the_jobs_are_still_counted(scraper: Client, settings: Settings) -> None:  # noqa: F811
    a_job()
    settings.REDIS_URL = "unix:///nowhere/at/all.sock"
    sync_client.cache_clear()
    assert samples(scraper)["training_jobs", (("state", "queued"),)] == 1
