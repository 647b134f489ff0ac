"""Training jobs for tests, and a stand-in trainer that follows the contract of their folders without torch."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from apps.learning.jobs import driving
from apps.learning.models import JobState, Sweep, TrainedModel, TrainingJob
from tests.cast import person
from workers.training import checkpoints

STAND_IN = "-m workers.training.stand_in"


def a_job(**changes: Any) -> TrainingJob:
    """A queued job on the toy “copy”: 20 steps, saved every 5."""
    config = {
        "format": 1,
        "recipe": "turn_grpo",
        "base": {"tiny": {}},
        "parent": "tiny",
        "source": {"kind": "toy", "toy": "copy"},
        "steps": 20,
        "save_every": 5,
        "seed": 0,
        "learning_rate": 0.05,
    }
    config |= changes.pop("config", {})
    values: dict[str, Any] = {
        "title": "Copy a digit",
        "recipe": config["recipe"],
        "base_title": "Tiny",
        "owner": person("alice"),
        "config": config,
        "steps": config["steps"],
        "queued_at": timezone.now(),
    }
    return TrainingJob.objects.create(**(values | changes))


@pytest.fixture
def training(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A separate data folder, the stand-in as trainer, and a driver that polls often."""
    settings.DATA_DIR = tmp_path
    settings.TRAIN_PYTHON = sys.executable
    settings.TRAIN_LAUNCHER = STAND_IN
    settings.TRAIN_DEVICES = [""]
    settings.TRAIN_BASES = ""
    settings.TRAIN_GRACE_S = 30.0
    monkeypatch.setattr(driving, "TICK_S", 0.02)
    return settings


def a_checkpoint(job: TrainingJob, step: int = 20, **facts: Any) -> Path:
    """A complete checkpoint in a job's folder, with weights of a few bytes and the trainer's own files."""
    place = job.folder / "checkpoints" / f"checkpoint-{step}"
    place.mkdir(parents=True)
    weights = "adapter_model.safetensors" if facts.get("adapter") else "model.safetensors"
    for name in (weights, "config.json", "tokenizer.json", "optimizer.pt"):
        (place / name).write_text(f'{{"{name}": {step}}}')
    checkpoints.seal(
        place, {"step": step, "adapter": False, "architecture": {"model_type": "llama", "vocab_size": 48}, **facts}
    )
    TrainingJob.objects.filter(pk=job.pk).update(checkpoint=f"checkpoints/checkpoint-{step}", state=JobState.FINISHED)
    return place


def a_model(name: str = "copier", **changes: Any) -> TrainedModel:
    """A candidate that no engine serves; an existing model of this name is returned."""
    found = TrainedModel.objects.filter(name=name).first()
    if found is not None:
        return found
    values = {"name": name, "job": a_job(), "step": 20, "parent": {"tiny": {}}, "parent_title": "Tiny", "is_adapter": False}
    return TrainedModel.objects.create(**(values | {"manifest": "ab" * 32} | changes))


def a_sweep(jobs: Sequence[TrainingJob] = (), names: Sequence[str] = ("learning_rate",)) -> Sweep:
    """A sweep of these jobs, or of one."""
    made = Sweep.objects.create(title="Rates", names=list(names), owner=person("alice"))
    TrainingJob.objects.filter(pk__in=[job.pk for job in jobs or [a_job()]]).update(sweep=made)
    return made


def between_polls(monkeypatch: pytest.MonkeyPatch, when: Callable[[], bool], act: Callable[[], object]) -> None:
    """Call `act()` once, between two polls of a trainer, when `when()` holds."""
    real = time.sleep
    done: list[object] = []

    def sleep(seconds: float) -> None:
        real(seconds)
        if not done and when():
            done.append(act())

    monkeypatch.setattr(time, "sleep", sleep)


def reached(job: TrainingJob, step: int) -> Callable[[], bool]:
    """Condition that the trainer has recorded this step."""

    def is_reached() -> bool:
        try:
            return bool(json.loads((job.folder / "state.json").read_text())["step"] >= step)
        except (OSError, ValueError):
            return False

    return is_reached


def driven(job: TrainingJob) -> TrainingJob:
    """The job after a worker has done all waiting work."""
    driving.training_work()
    job.refresh_from_db()
    return job


def lines(path: Path, found: Iterable[dict[str, Any]]) -> None:
    """Append lines of JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(one) + "\n" for one in found)


def an_ended_job(tmp: Path, **changes: Any) -> TrainingJob:
    """A finished job with three lines of metrics, samples and a log, but no process."""
    job = a_job(**({"state": JobState.FINISHED, "step": 20, "ended_at": timezone.now(), "attempt": 1} | changes))
    metrics = [{"step": n, "time": n / 2, "clock": 0, "attempt": 1, "tokens": 100 * n, "reward": n / 10, "silent": 0.5,
                "passrate/0": 0.25, "passrate/1": 0.75, "votes/0": 0.4, "votes/1": 0.6, "role/verifier1/found": 0.9,
                "role/verifier1/spared": 0.8, "role/solver/reward": 0.3} for n in (1, 2, 3)]  # fmt: skip
    lines(job.folder / "metrics.jsonl", metrics)
    sample = {"step": 2, "attempt": 1, "group_id": "g", "trajectory_id": "t", "problem_id": "p", "role": "solver"}
    text = {"policy_version": 1, "prompt": "7=", "completion": "<b>7", "reward": 1.0, "advantage": 0.5, "finish_reason": "stop"}
    lines(job.folder / "samples.jsonl", [sample | text])
    (job.folder / "log.txt").write_text("began\nended\n")
    return job
