"""Application and trainer agree on recipes, toys and files, and the application never imports torch."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from apps.learning.charts.samples import Samples
from apps.learning.jobs import folders
from apps.learning.jobs.ends import ADVICE
from apps.learning.presets import PRESETS, TOYS
from apps.recipes.registry import RECIPES
from tests.training_jobs.factory import lines
from workers.training import checkpoints
from workers.training.folder import JobFolder
from workers.training.problems import Reason

ROOT = Path(__file__).resolve().parents[2]


def test_the_pages_offer_the_trainers_toys_and_recipes() -> None:
    source = (ROOT / "workers/training/toys/registry.py").read_text()
    assert set(re.findall(r'"(\w+)": [A-Z_]', source)) == set(TOYS)
    for preset in PRESETS.values():
        assert preset.fields["recipe"] in RECIPES


def test_every_reason_of_the_trainer_has_advice() -> None:
    assert set(get_args(Reason)) <= set(ADVICE)


def test_the_trainers_state_is_read_from_its_folder(tmp_path: Path) -> None:
    assert folders.trainer_state(tmp_path) is None
    folder = JobFolder(tmp_path)
    folder.write_state(state="running", step=3, steps=9, checkpoint="checkpoints/checkpoint-2")
    found = folders.trainer_state(tmp_path)
    assert found is not None
    assert (found.state, found.step, found.attempt, found.checkpoint) == ("running", 3, 1, "checkpoints/checkpoint-2")
    (tmp_path / "state.json").write_text('{"state": "runn')
    assert folders.trainer_state(tmp_path) is None


def test_only_complete_checkpoints_are_offered(tmp_path: Path) -> None:
    for step in (5, 10):
        (tmp_path / "checkpoints" / f"checkpoint-{step}").mkdir(parents=True)
    checkpoints.seal(tmp_path / "checkpoints" / "checkpoint-5", {"step": 5})
    assert folders.checkpoint_steps(tmp_path) == [5]


def test_samples_of_a_step_come_from_its_last_attempt(tmp_path: Path) -> None:
    path = tmp_path / "samples.jsonl"
    lines(path, [{"step": 4, "attempt": 1, "n": 1}, {"step": 5, "attempt": 1, "n": 2}, {"step": 5, "attempt": 1, "n": 3}])
    found = Samples(path)
    found.read()
    lines(path, [{"step": 5, "attempt": 2, "n": 4}])
    with path.open("a") as file:
        file.write('{"step": 6, "attempt": 2')
    found.read()
    assert [row["n"] for row in found.at(5)] == [4]
    assert (found.near(100), found.near(1), found.neighbours(5)) == (5, 4, (4, None))


def test_rows_are_linked_once_and_a_prepared_job_is_not_changed(tmp_path: Path) -> None:
    rows = tmp_path / "version" / "rows"
    rows.mkdir(parents=True)
    (rows / "0.parquet").write_text("rows")
    folders.prepare(tmp_path / "job", {"steps": 1}, rows)
    folders.prepare(tmp_path / "job", {"steps": 2}, rows)
    assert json.loads((tmp_path / "job" / "config.json").read_text()) == {"steps": 1}
    assert (tmp_path / "job" / "rows" / "0.parquet").samefile(rows / "0.parquet")


@pytest.mark.parametrize("module", ["apps.config.trainer", "apps.config.asgi"])
def test_neither_web_nor_train_worker_imports_torch(module: str) -> None:
    code = f"import sys, {module}; print(*({{'torch', 'trl', 'transformers'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.split() == []
