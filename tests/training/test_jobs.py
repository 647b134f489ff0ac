"""A job from its folder to its end state: files in the folder, and a resumed job equals an uninterrupted one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from tests.training.factory import end_of, job, lines, state
from workers.training import checkpoints
from workers.training.losses import objectives
from workers.training.measuring.watching import StopAsked

WEIGHTS = "model.safetensors"


class StopAfter(StopAsked):
    """Requests a stop after a number of checks."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self._left = steps

    @property
    def asked(self) -> bool:
        self._left -= 1
        return self._left < 0


def test_a_job_writes_the_documented_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEMMASCOPE_COMMIT", "abc123")
    folder = job(tmp_path, save_every=2, parent="smollm", dataset={"name": "d", "hash": "abc"})
    assert end_of(folder)["checkpoint"] == "checkpoints/checkpoint-4"
    measured = lines(folder / "metrics.jsonl")
    assert [line["step"] for line in measured] == [1, 2, 3, 4]
    named = {"loss", "grad_norm", "learning_rate", "entropy", "kl", "reward", "tokens", "passrate/0"}
    assert named | {"ratio_max", "ess", "kl_behaviour"} <= set(measured[-1])
    assert "silent" not in measured[-1], "stored rows have no silent groups"
    assert measured[-1]["masked_tokens"] > 0
    samples = lines(folder / "samples.jsonl")
    assert len(samples) == 8
    assert samples[0]["prompt"].startswith("4?")
    board = EventAccumulator(str(folder / "tensorboard")).Reload()
    assert len(board.Scalars("loss")) == 4
    manifest = checkpoints.read_manifest(folder / "checkpoints" / "checkpoint-4")
    assert (manifest["parent"], manifest["dataset"]["hash"], manifest["rows_trained"]) == ("smollm", "abc", 32)
    assert manifest["config"]["loss"]["beta"] == 0.01, "defaults of the recipe are included"
    assert manifest["versions"]["trl"].startswith("1.16.")
    assert manifest["commit"] == "abc123"
    assert checkpoints.broken_files(folder / "checkpoints" / "checkpoint-4") == []


@pytest.mark.parametrize(
    ("recipe", "loss"),
    [
        *((recipe, {}) for recipe in ("turn_grpo", "turn_ppo", "orealh", "turn_sft", "grpo_rubric")),
        ("orealh", {"token_rm": True}),
    ],
)
def test_a_resumed_job_equals_an_uninterrupted_one(
    tmp_path: Path, recipe: str, loss: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Weights and losses are identical with one thread."""
    monkeypatch.setattr(objectives, "STEPS_ALONE", 1)
    whole = job(tmp_path / "whole", recipe=recipe, micro_rows=4, learning_rate=1e-3, loss=loss)
    torn = job(tmp_path / "torn", recipe=recipe, micro_rows=4, learning_rate=1e-3, loss=loss)
    end_of(whole)
    assert end_of(torn, stop=StopAfter(2))["state"] == "stopped"
    assert state(torn)["step"] == 3
    assert end_of(torn, resume=True)["attempt"] == 2
    last = Path("checkpoints/checkpoint-4") / WEIGHTS
    left, right = load_file(whole / last), load_file(torn / last)
    assert all(left[name].equal(right[name]) for name in left)
    losses = [[line["loss"] for line in lines(folder / "metrics.jsonl")] for folder in (whole, torn)]
    assert losses[0] == losses[1]


def test_old_checkpoints_are_deleted_and_incomplete_ones_ignored(tmp_path: Path) -> None:
    folder = job(tmp_path, save_every=1, keep=2)
    end_of(folder)
    kept = folder / "checkpoints"
    assert [path.name for path in checkpoints.complete(kept)] == ["checkpoint-3", "checkpoint-4"]
    (kept / "checkpoint-4" / "manifest.json").unlink()
    assert checkpoints.latest(kept) == kept / "checkpoint-3"
    assert not (kept / "checkpoint-4").exists()


def test_a_signal_saves_and_a_kill_loses_no_complete_checkpoint(tmp_path: Path) -> None:
    folder = job(tmp_path, steps=10_000, save_every=5)
    process = started(folder)
    wait_for(folder, lambda found: found["step"] >= 6)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -9
    assert state(folder)["state"] in ("running", "saving"), "a killed process cannot write its end"
    again = started(folder, "--resume")
    wait_for(folder, lambda found: found["attempt"] == 2 and found["step"] >= 12)
    again.send_signal(signal.SIGTERM)
    assert again.wait(timeout=120) == 3
    found = state(folder)
    assert (found["state"], found["checkpoint"]) == ("stopped", f"checkpoints/checkpoint-{found['step']}")
    assert (folder / "heartbeat.json").exists()


def test_wrong_usage_writes_nothing(tmp_path: Path) -> None:
    process = started(tmp_path)
    assert process.wait() == 2
    assert [path.name for path in tmp_path.iterdir()] == ["log.txt"]


def started(folder: Path, *more: str) -> "subprocess.Popen[bytes]":
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "workers.training", "--job", str(folder), *more],
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )


def wait_for(folder: Path, there: Any, seconds: float = 240) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if (folder / "state.json").exists() and there(state(folder)):
            return
        time.sleep(0.1)
    raise AssertionError((folder / "log.txt").read_text()[-3000:])
