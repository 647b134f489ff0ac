"""Jobs on datasets with texts only: allowed recipes, tokenised rows, and the state after a kill."""

import json
import os
import signal
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.accounts.models import User
from apps.datasets.models import DatasetVersion
from apps.learning.jobs import jobs
from apps.learning.jobs.folders import trainer_state
from apps.learning.jobs.forms import JobForm
from apps.learning.jobs.jobs import job_resume, job_stop
from apps.learning.models import JobState, TrainingJob
from tests.training_jobs.factory import STAND_IN, between_polls, driven
from tests.training_jobs.test_pages import fields
from workers.training.rows.tables import read_rows

pytestmark = pytest.mark.django_db


def texts(tmp_path: Path, count: int = 40, **changes: object) -> DatasetVersion:
    """A version without tokens, as runs on the embedded model produce it."""
    values: dict[str, object] = {"name": "proofs", "version": 1, "path": "datasets/proofs-1", "hash": "ab" * 32}
    values |= {"recipe": "sft_proofs", "rows_count": count, "has_logprobs": False, "has_tokens": False}
    made = DatasetVersion.objects.create(**(values | changes))
    made.folder.mkdir(parents=True)
    (made.folder / "manifest.json").write_text('{"tokenizer": null}')
    known = {"group_id": "p", "reward": None, "role": "solver", "run_id": "r", "problem_id": "p", "trajectory_id": "t"}
    known |= {"step_index": 0, "finish_reason": "stop", "split": "train", "licence": "CC0"}  # type: ignore[dict-item]
    with (made.folder / "texts.jsonl").open("w") as file:
        for number in range(count):
            messages = [{"role": "user", "content": f"{number}?"}, {"role": "assistant", "content": "=" * (1 + number % 3)}]
            file.write(json.dumps(known | {"messages": messages}) + "\n")
    return made


@pytest.fixture(autouse=True)
def _a_base(training: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "nudge", lambda: None)
    (tmp_path / "models" / "small").mkdir(parents=True)
    (tmp_path / "models" / "small" / "config.json").write_text("{}")


def started(alice: User, made: DatasetVersion, **changes: object) -> TrainingJob:
    given = {"recipe": "sft_proofs", "source": f"dataset:{made.pk}", "base": "folder:small", "steps": 10}
    form = JobForm(fields(**{**given, **changes}), user=alice)
    assert form.is_valid(), form.errors
    return jobs.job_create(owner=alice, draft=form.draft())


def test_a_supervised_job_tokenises_the_texts_and_trains(alice: User, tmp_path: Path) -> None:
    made = texts(tmp_path)
    job = driven(started(alice, made))
    assert (job.state, job.step, job.message) == (JobState.FINISHED, 10, "")
    assert job.config["source"] == {"kind": "texts"}
    assert (job.folder / "texts.jsonl").samefile(made.folder / "texts.jsonl")
    rows = list(read_rows(job.folder / "rows" / "00000.parquet"))
    assert len(rows) == 40
    assert bytes(rows[1].prompt_ids) == b"user: 1?\n"
    assert list(rows[1].completion_ids) == [ord("="), ord("="), 0]
    assert not (made.folder / "rows").exists(), "a version is never changed"


def test_a_recipe_that_needs_log_probabilities_is_rejected_with_advice(alice: User, tmp_path: Path) -> None:
    made = texts(tmp_path, recipe="turn_grpo")
    form = JobForm(fields(source=f"dataset:{made.pk}", base="folder:small"), user=alice)
    assert set(form.errors) == {"source"}
    error = str(form.errors["source"])
    assert "Choose a supervised recipe (sft_proofs, turn_sft, orealh_cold_start)" in error
    assert "recorded for learning" in error


def test_missing_texts_are_reported_by_the_form_and_by_the_worker(alice: User, tmp_path: Path) -> None:
    made = texts(tmp_path)
    job = started(alice, made)
    (made.folder / "texts.jsonl").unlink()
    form = JobForm(fields(recipe="sft_proofs", source=f"dataset:{made.pk}", base="folder:small"), user=alice)
    assert "The texts of proofs v1 are missing" in str(form.errors["source"])
    assert (driven(job).state, job.reason) == (JobState.FAILED, "bad_rows")
    assert "The texts of proofs v1 are missing" in job.message


@pytest.mark.parametrize(
    ("count", "how", "reason", "words"),
    [(40, "--no-template", "bad_config", "no chat template"), (0, "", "bad_rows", "no answer to learn from")],
)
def test_texts_that_cannot_be_tokenised_fail_the_job_with_the_reason(
    alice: User, training: Settings, tmp_path: Path, count: int, how: str, reason: str, words: str
) -> None:
    training.TRAIN_LAUNCHER = f"{STAND_IN} {how}"
    job = driven(started(alice, texts(tmp_path, count)))
    assert (job.state, job.reason, job.step) == (JobState.FAILED, reason, 0)
    assert words in job.message
    assert not list((job.folder / "rows").glob("*"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_job_that_ends_while_tokenising_leaves_no_rows_and_can_be_resumed(
    alice: User, training: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    training.TRAIN_LAUNCHER = f"{STAND_IN} --pace 0.01"
    job = started(alice, texts(tmp_path, 1000))
    seen: list[str] = []

    def tokenises() -> bool:
        state = trainer_state(job.folder)
        job.refresh_from_db()
        return state is not None and state.state == "tokenising" and "tokenised" in job.message

    def end() -> None:
        seen.append(job.message)
        assert job.state == JobState.RUNNING
        assert job.pid is not None
        if number == signal.SIGTERM:
            job_stop(job)
        else:
            os.kill(job.pid, number)

    between_polls(monkeypatch, tokenises, end)
    driven(job)
    assert seen[0].startswith("The texts are being tokenised: ")
    assert job.state == (JobState.STOPPED if number == signal.SIGTERM else JobState.LOST)
    assert not list((job.folder / "rows").glob("*.parquet"))
    training.TRAIN_LAUNCHER = STAND_IN
    assert job_resume(job)
    assert (driven(job).state, job.step, job.attempt) == (JobState.FINISHED, 10, 2)
    assert len(list(read_rows(job.folder / "rows" / "00000.parquet"))) == 1000
