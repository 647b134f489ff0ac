"""A toy trained with the real trainer, registered, and better than its parent. Part of `make test-learning`."""

import json
import subprocess
from pathlib import Path

import pytest
from pytest_django import Settings

from apps.accounts.models import User
from apps.config.environment import BASE_DIR
from apps.learning.jobs import driving
from apps.learning.jobs.bases import bases
from apps.learning.jobs.configs import config_from
from apps.learning.models import ComparisonState, JobState
from apps.learning.presets import PRESETS
from apps.learning.trained import comparing
from apps.learning.trained.comparing import toy_compare
from apps.learning.trained.paired import result_of
from apps.learning.trained.registering import model_register
from tests.training_jobs.factory import a_job, driven
from tests.training_jobs.test_jobs_from_texts import texts

TRAINER = BASE_DIR / ".venv-train" / "bin" / "python"
pytestmark = [pytest.mark.django_db, pytest.mark.trainer]


def test_a_preset_is_trained_registered_and_compared_with_its_parent(
    training: Settings, alice: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    training.TRAIN_PYTHON, training.TRAIN_LAUNCHER = str(TRAINER), ""
    monkeypatch.setattr(comparing, "nudge", lambda: None)
    base = next(one for one in bases() if one.value == "tiny")
    assert base is not None
    fields = {"dtype": "auto", "keep": 2, "demonstrations": False, "lora": False, **PRESETS["copy"].fields}
    job = driven(a_job(config=config_from(fields, base, None), steps=60))
    assert (job.state, job.step) == (JobState.FINISHED, 60), job.message
    made = model_register(user=alice, job=job, step=60, name="copier")
    assert made.architecture["model_type"] == "llama"
    one = toy_compare(model=made, toy="copy", items=32, seed=1000, user=alice, start_id=None)
    driving.training_work()
    one.refresh_from_db()
    assert one.state == ComparisonState.DONE, one.message
    found = result_of(one)
    assert found is not None
    assert found.low is not None
    assert found.low > 0.5
    assert found.child > 0.85


A_CHAT_MODEL = """
import sys
from workers.training.tiny import tiny_model, tiny_tokenizer
tokenizer = tiny_tokenizer()
tokenizer.chat_template = "{% for message in messages %}{{ message.content }}{% endfor %}"
tokenizer.save_pretrained(sys.argv[1])
tiny_model(hidden=32, layers=1, heads=2).save_pretrained(sys.argv[1])
"""


def test_texts_without_recorded_tokens_are_tokenised_and_learned(training: Settings, alice: User, tmp_path: Path) -> None:
    training.TRAIN_PYTHON, training.TRAIN_LAUNCHER = str(TRAINER), ""
    place = tmp_path / "models" / "small"
    subprocess.run([TRAINER, "-c", A_CHAT_MODEL, place], cwd=BASE_DIR, check=True, timeout=120)
    base = next(one for one in bases() if one.value == "folder:small")
    assert base is not None
    version = texts(tmp_path)
    fields = {
        "recipe": "sft_proofs",
        "source": f"dataset:{version.pk}",
        "steps": 30,
        "seed": 0,
        "save_every": 30,
        "keep": 1,
        "device": "cpu",
        "dtype": "auto",
    }
    values = fields | {"lora": False, "rows_per_step": 8, "learning_rate": 3e-3, "last_learning_rate": 3e-3, "threads": 1}
    job = driven(a_job(config=config_from(values, base, version), dataset=version))
    assert (job.state, job.step, job.message) == (JobState.FINISHED, 30, "")
    losses = [json.loads(line)["loss"] for line in (job.folder / "metrics.jsonl").read_text().splitlines()]
    assert losses[-1] < losses[0] / 2
    manifest = json.loads((job.folder / "checkpoints" / "checkpoint-30" / "manifest.json").read_text())
    assert manifest["chat_template"], "the manifest records the template of the rows"
