"""Jobs driven from the queue to their end state, with the stand-in trainer as a real process."""

import json
import os
import signal
from functools import partial

import pytest
from pytest_django import Settings

from apps.datasets.versions.commit import git_commit
from apps.learning.jobs import driving
from apps.learning.jobs.folders import DRIVER_LOCK, TRAINER_LOCK, locked, prepare, trainer_is_running
from apps.learning.jobs.jobs import job_resume, job_stop
from apps.learning.jobs.trainers import FolderBusy, environment, start
from apps.learning.models import JobState, TrainingJob
from tests.training_jobs.factory import STAND_IN, a_job, between_polls, driven, reached

pytestmark = pytest.mark.django_db


def killed(job: TrainingJob) -> None:
    job.refresh_from_db()
    assert job.pid is not None
    os.kill(job.pid, signal.SIGKILL)


def test_a_job_is_trained_to_its_end(training: Settings) -> None:
    job = driven(a_job())
    assert (job.state, job.step, job.attempt, job.checkpoint) == (JobState.FINISHED, 20, 1, "checkpoints/checkpoint-20")
    assert job.ended_at is not None
    assert json.loads((job.folder / "config.json").read_text())["source"] == {"kind": "toy", "toy": "copy"}
    assert not trainer_is_running(job.folder)


def test_jobs_are_claimed_in_queue_order(training: Settings) -> None:
    first, second = a_job(config={"steps": 1}), a_job(config={"steps": 1})
    driving.training_work()
    first.refresh_from_db()
    second.refresh_from_db()
    assert first.ended_at is not None
    assert second.started_at is not None
    assert first.ended_at <= second.started_at


def test_a_stopped_job_saves_and_resumes_from_its_checkpoint(training: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    training.TRAIN_LAUNCHER = f"{STAND_IN} --pace 0.02"
    job = a_job(config={"steps": 5000})
    between_polls(monkeypatch, reached(job, 3), partial(job_stop, job))
    driven(job)
    assert job.state == JobState.STOPPED
    assert job.stop_asked_at is None
    assert job.checkpoint == f"checkpoints/checkpoint-{job.step}"
    TrainingJob.objects.update(steps=job.step + 2)
    config = json.loads((job.folder / "config.json").read_text())
    (job.folder / "config.json").write_text(json.dumps(config | {"steps": job.step + 2}))
    at = job.step
    assert job_resume(job)
    assert (driven(job).state, job.step, job.attempt) == (JobState.FINISHED, at + 2, 2)
    steps = [json.loads(line)["step"] for line in (job.folder / "metrics.jsonl").read_text().splitlines()]
    assert steps == list(range(1, at + 3))


def test_a_queued_job_stops_at_once_and_an_ended_one_cannot_be_stopped(training: Settings) -> None:
    job = a_job()
    assert job_stop(job)
    job.refresh_from_db()
    assert job.state == JobState.STOPPED
    assert not job_stop(job)
    assert driven(job).state == JobState.STOPPED
    assert not (job.folder / "config.json").exists()


@pytest.mark.parametrize(
    ("how", "reason", "words"),
    [
        ("--nan-at 7", "not_a_number", "step 7"),
        ("--full-at 7", "disk_full", "The disk is full"),
        ("--lost-at 7", "device_lost", "stopped responding"),
    ],
)
def test_an_error_in_the_trainer_is_recorded_and_the_last_checkpoint_is_kept(
    training: Settings, how: str, reason: str, words: str
) -> None:
    training.TRAIN_LAUNCHER = f"{STAND_IN} {how}"
    job = driven(a_job())
    assert (job.state, job.reason, job.checkpoint) == (JobState.FAILED, reason, "checkpoints/checkpoint-5")
    assert words in job.message
    training.TRAIN_LAUNCHER = STAND_IN
    assert job_resume(job)
    assert driven(job).state == JobState.FINISHED


def test_a_configuration_error_is_recorded_in_the_trainers_words(training: Settings) -> None:
    job = driven(a_job(config={"rows_per_step": 10, "micro_rows": 3}))
    assert (job.state, job.reason) == (JobState.FAILED, "bad_config")
    assert "micro_rows" in job.message


def test_without_a_reason_from_the_trainer_its_log_is_quoted(training: Settings) -> None:
    training.TRAIN_LAUNCHER = f"{STAND_IN} --mute"
    job = driven(a_job())
    assert (job.state, job.reason) == (JobState.FAILED, "crashed")
    assert "Something is wrong with this machine." in job.message


def test_without_the_trainers_environment_the_message_says_what_to_install(training: Settings) -> None:
    training.TRAIN_PYTHON = "/nowhere/python"
    job = driven(a_job())
    assert (job.state, job.reason) == (JobState.FAILED, "no_trainer")
    assert "make setup-train" in job.message


def test_a_killed_trainer_is_lost_and_continues_when_resumed(training: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    training.TRAIN_LAUNCHER = f"{STAND_IN} --pace 0.02"
    job = a_job(config={"steps": 400})
    between_polls(monkeypatch, reached(job, 6), partial(killed, job))
    driven(job)
    assert (job.state, job.reason) == (JobState.LOST, "killed")
    assert int(job.checkpoint.removeprefix("checkpoints/checkpoint-")) in range(5, 400, 5), (
        "which one depends on the machine's speed"
    )
    assert "SIGKILL" in job.message
    training.TRAIN_LAUNCHER = STAND_IN
    assert job_resume(job)
    assert (driven(job).state, job.step) == (JobState.FINISHED, 400)


def test_a_trainer_that_does_not_save_in_time_is_killed(training: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    training.TRAIN_LAUNCHER, training.TRAIN_GRACE_S = f"{STAND_IN} --pace 0.02 --deaf", 0.1
    job = a_job(config={"steps": 5000})
    between_polls(monkeypatch, reached(job, 6), partial(job_stop, job))
    driven(job)
    assert (job.state, job.reason) == (JobState.STOPPED, "killed")
    assert job.checkpoint
    assert "did not save in time" in job.message


def test_a_worker_that_ends_lets_its_trainer_save_and_the_next_worker_continues(
    training: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    training.TRAIN_LAUNCHER = f"{STAND_IN} --pace 0.02"
    job = a_job(config={"steps": 400})
    between_polls(monkeypatch, reached(job, 3), driving._closing.set)
    try:
        driven(job)
    finally:
        driving._closing.clear()
    assert job.state == JobState.QUEUED
    assert job.step < 400
    training.TRAIN_LAUNCHER = STAND_IN
    assert (driven(job).state, job.attempt) == (JobState.FINISHED, 2)


def test_a_trainer_that_outlived_its_worker_is_taken_over(training: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver was killed after it had started the trainer, which is still running."""
    training.TRAIN_LAUNCHER = f"{STAND_IN} --pace 0.02"
    job = a_job(config={"steps": 5000})
    assert driving._claimed(job)
    process = driving._start_trainer(job)
    assert driving.has_waiting_work()
    between_polls(monkeypatch, reached(job, 3), partial(job_stop, job))
    try:
        driven(job)
        assert job.state == JobState.STOPPED
        assert job.attempt == 1, "no second trainer was started"
    finally:
        process.kill()
        process.wait()


def test_the_next_worker_records_a_trainer_that_ended_without_one(training: Settings) -> None:
    job = a_job()
    assert driving._claimed(job)
    driving._start_trainer(job).wait()
    assert (driven(job).state, job.step) == (JobState.FINISHED, 20)


def test_a_trainer_that_died_without_a_worker_is_lost_once_its_heartbeat_is_old(
    training: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    training.TRAIN_LAUNCHER = f"{STAND_IN} --pace 0.02"
    job = a_job(config={"steps": 5000})
    assert driving._claimed(job)
    process = driving._start_trainer(job)
    while not reached(job, 2)():
        assert process.poll() is None
    process.kill()
    process.wait()
    monkeypatch.setattr(driving, "LOST_AFTER_S", 0.0)
    assert (driven(job).state, job.reason) == (JobState.LOST, "killed")


def test_a_folder_has_one_trainer_and_a_job_has_one_driver(training: Settings) -> None:
    job = a_job()
    prepare(job.folder, job.config, None)
    with locked(job.folder / TRAINER_LOCK) as mine:
        assert mine is not None
        with pytest.raises(FolderBusy):
            start(job.folder, resume=False)
    with locked(job.folder / DRIVER_LOCK):
        assert driven(job).state == JobState.QUEUED
    assert driven(job).state == JobState.FINISHED


def test_a_device_has_one_job_at_a_time(training: Settings) -> None:
    training.TRAIN_DEVICES = ["0", "1"]
    jobs = [a_job() for _ in range(3)]
    assert [driving._claimed(job) for job in jobs] == [True, True, False]
    assert [job.device for job in jobs] == ["0", "1", ""]


def test_a_trainer_gets_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "x")
    monkeypatch.setenv("DATABASE_URL", "x")
    monkeypatch.setenv("HF_TOKEN", "x")
    monkeypatch.setenv("HF_HOME", "/models/hub")
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    given = environment("2")
    assert given["LEMMASCOPE_COMMIT"] == git_commit()
    assert not {"SECRET_KEY", "DATABASE_URL", "HF_TOKEN"} & set(given)
    assert given["HF_HOME"] == "/models/hub"
    assert (given["NCCL_DEBUG"], given["CUDA_VISIBLE_DEVICES"], given["HF_HUB_OFFLINE"]) == ("INFO", "2", "1")


def test_a_launcher_gets_the_division_of_weights_and_the_time_to_save(training: Settings) -> None:
    """torch's launcher kills its processes 30 s after a signal without this variable."""
    training.TRAIN_SHARD, training.TRAIN_GRACE_S = "fsdp", 300.0
    given = environment()
    assert (given["LEMMASCOPE_SHARD"], given["TORCH_ELASTIC_SHUTDOWN_TIMEOUT"]) == ("fsdp", "300")


def test_a_trainer_gets_the_compiler_and_the_kernel_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/usr/bin/gcc-12")
    monkeypatch.setenv("TRITON_CACHE_DIR", "/models/triton")
    assert {"CC", "TRITON_CACHE_DIR"} <= set(environment())


@pytest.mark.parametrize(
    ("launcher", "device", "visible", "seen"),
    [
        ("", "", None, "0"),
        ("", "2,3", None, "2"),
        ("", "", "5,6", "5"),
        ("", "", "", ""),
        ("-m torch.distributed.run --nproc_per_node 2", "2,3", None, "2,3"),
        ("-m torch.distributed.run --nproc_per_node 2", "", None, None),
    ],
)
def test_a_single_process_trainer_sees_one_gpu_and_a_launcher_all_of_its_set(
    training: Settings, monkeypatch: pytest.MonkeyPatch, launcher: str, device: str, visible: str | None, seen: str | None
) -> None:
    """TRL rejects two visible GPUs in one process; with the default settings every job failed on such a machine."""
    training.TRAIN_LAUNCHER = launcher
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert environment(device).get("CUDA_VISIBLE_DEVICES") == seen
