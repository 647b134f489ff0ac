"""A job in two processes on the CPU (gloo): equal weights, whole checkpoints, an agreed stop, and the end of one process.

Most tests start real processes with torch's launcher, as on several GPUs.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from apps.recipes.mathematics.rows import Row
from tests.training.factory import end_of, job, lines, rows, state
from workers.training import checkpoints
from workers.training.config import config_of
from workers.training.measuring.watching import StopAsked
from workers.training.problems import BadConfig
from workers.training.processes.sharding import chosen_shard
from workers.training.rows.tables import write_rows

LAUNCHER = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
LORA = {"rank": 4, "alpha": 8}
LAST = "checkpoints/checkpoint-20"


def started(folder: Path, *more: str, command: tuple[str, ...] = ("-m", "workers.training")) -> "subprocess.Popen[bytes]":
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            [*LAUNCHER, *command, "--job", str(folder), *more],
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )


def end_of_two(folder: Path, *more: str, command: tuple[str, ...] = ("-m", "workers.training")) -> dict[str, Any]:
    """Run a job in two processes and return its state file."""
    status = started(folder, *more, command=command).wait(timeout=300)
    found = state(folder)
    assert (status == 0) == (found["state"] == "finished"), (folder / "log.txt").read_text()[-3000:]
    return found


def process_of_rank(launcher: int, rank: int) -> int:
    """Process id of a rank among the launcher's children."""
    for child in Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split():
        if f"RANK={rank}".encode() in Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
            return int(child)
    raise AssertionError(f"no process of rank {rank}")


def wait_for_step(folder: Path, step: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 240
    while time.monotonic() < until and process.poll() is None:
        if (folder / "state.json").exists() and state(folder)["step"] >= step:
            return
        time.sleep(0.05)
    raise AssertionError((folder / "log.txt").read_text()[-3000:])


def away(one: Path, other: Path, name: str = "model.safetensors") -> float:
    """The largest difference of two files of weights."""
    left, right = load_file(one / name), load_file(other / name)
    assert left.keys() == right.keys()
    return float(max((left[key] - right[key]).abs().max() for key in left))


def of_two_problems() -> list[Row]:
    return [replace(one, problem_id=f"p{number % 5}") for number, one in enumerate(rows(16))]


@pytest.mark.parametrize("more", [{}, {"shard": "fsdp"}, {"shard": "fsdp", "lora": LORA, "recipe": "turn_sft"}])
def test_two_processes_give_the_weights_of_one(tmp_path: Path, more: dict[str, Any]) -> None:
    """Each processes half of a step's rows, with FSDP2 also half of the weights; only the main one writes the folder.

    Parts of at most 20 tokens give the two processes different numbers of backward passes. With FSDP2 the resumed job equals
    the uninterrupted one bit for bit; one process can resume it too.
    """
    given: dict[str, Any] = {"micro_rows": 4, "micro_tokens": 20, "steps": 20, "learning_rate": 1e-4, "save_every": 10}
    given |= more | ({"held_out": {"every": 5, "share": 0.4}} if more.get("recipe") == "turn_sft" else {})
    name = "adapter_model.safetensors" if "lora" in more else "model.safetensors"
    one, two = job(tmp_path / "one", of_two_problems(), **given), job(tmp_path / "two", of_two_problems(), **given)
    end_of(one)
    assert end_of_two(two)["checkpoint"] == LAST
    measured = [lines(folder / "metrics.jsonl") for folder in (one, two)]
    assert [line["step"] for line in measured[1]] == list(range(1, 21))
    for left, right in zip(*measured, strict=True):
        assert left.get("held_out/score") == pytest.approx(right.get("held_out/score"), abs=1e-5)
    assert ("FSDP2" in json.loads((two / "machine.json").read_text())["hardware"]) == ("shard" in more)
    assert away(one / LAST, two / LAST, name) < 1e-5
    for checkpoint in checkpoints.complete(two / "checkpoints"):
        assert checkpoints.broken_files(checkpoint) == []
        files = set(checkpoints.read_manifest(checkpoint)["files"])
        assert {name, "optimizer.pt", "rng_state_0.pth", "rng_state_1.pth"} <= files
    if "lora" not in more:
        assert (one / LAST / "config.json").read_text() == (two / LAST / "config.json").read_text()
    shutil.copytree(two, tmp_path / "alone")
    for folder in (two, tmp_path / "alone"):
        (folder / LAST).rename(folder / "uninterrupted")
    if "shard" in more:
        assert end_of_two(two, "--resume")["attempt"] == 2
        assert away(two / LAST, two / "uninterrupted", name) == 0
    end_of(tmp_path / "alone", resume=True)
    assert away(tmp_path / "alone" / LAST, two / "uninterrupted", name) < 1e-5


def test_a_signal_to_one_process_stops_all_after_the_same_step(tmp_path: Path) -> None:
    """The stream has rows for a long time. The policies of FSDP2 are whole, and the last one is that of the checkpoint."""
    folder = job(tmp_path / "job", rows(8), source={"kind": "stream", "wait": 100}, steps=10_000, shard="fsdp", lora=LORA)
    for number in range(1, 400):
        write_rows(folder / "rows" / f"{number:03}.parquet", rows(8))
    process = started(folder)
    wait_for_step(folder, 3, process)
    os.kill(process_of_rank(process.pid, 1), signal.SIGTERM)
    process.wait(timeout=120)
    found = state(folder)
    assert (found["state"], found["reason"]) == ("stopped", None), found["message"]
    last = folder / "checkpoints" / f"checkpoint-{found['step']}"
    assert checkpoints.broken_files(last) == []
    policies = sorted((folder / "policy").iterdir(), key=lambda path: int(path.name))
    assert [path.name for path in policies] == [str(found["step"] - 1), str(found["step"])]
    assert away(policies[-1], last, "adapter_model.safetensors") == 0
    assert away(policies[-1], policies[-2], "adapter_model.safetensors") > 0


def test_a_killed_process_ends_the_job_in_time_and_the_job_can_be_resumed(tmp_path: Path) -> None:
    folder = job(tmp_path / "job", steps=10_000, save_every=2, shard="fsdp")
    process = started(folder)
    wait_for_step(folder, 3, process)
    os.kill(process_of_rank(process.pid, 1), signal.SIGKILL)
    began = time.monotonic()
    process.wait(timeout=60)
    assert time.monotonic() - began < 30
    found = state(folder)
    assert (found["state"], found["reason"]) == ("failed", "process_lost")
    assert found["message"] == "Process 2 of 2 ended. It was killed, or the machine had no memory left."
    stop = StopAsked()
    stop.ask()
    again = end_of(folder, resume=True, stop=stop)
    assert (again["state"], again["step"]) == ("stopped", int(found["checkpoint"].rpartition("-")[2]) + 1)


def test_a_gpu_that_vanishes_from_one_process_is_named(tmp_path: Path) -> None:
    """The error is torch's own for CUDA, raised in the third step of the second process."""
    script = tmp_path / "loses_its_gpu.py"
    script.write_text(
        """import os, sys, torch
sys.path.insert(0, os.getcwd())
from workers.training.row_trainer import RowTrainer
from workers.training.__main__ import main
compute = RowTrainer._compute_loss
def lost(self, model, inputs):
    if os.environ["RANK"] == "1" and self.state.global_step == 2:
        raise torch.AcceleratorError("CUDA error: unspecified launch failure\\nFor debugging, pass CUDA_LAUNCH_BLOCKING=1")
    return compute(self, model, inputs)
RowTrainer._compute_loss = lost
sys.exit(main())
"""
    )
    folder = job(tmp_path / "job", save_every=1, shard="fsdp")
    found = end_of_two(folder, command=(str(script),))
    assert (found["state"], found["reason"], found["checkpoint"]) == ("failed", "device_lost", "checkpoints/checkpoint-2")
    assert found["message"] == (
        "Process 2 of 2 ended. The device stopped responding (CUDA error: unspecified launch failure). "
        "Resume when it is available again."
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"recipe": "turn_ppo"}, ["turn_ppo", "value head"]),
        ({"source": {"kind": "toy", "toy": "copy"}}, ["toys draw"]),
        ({"recipe": "orealh", "loss": {"token_rm": True}}, ["loss.token_rm"]),
        ({"shard": "zero"}, ["“shard” is 'zero'", "null, fsdp"]),
    ],
)
def test_a_job_that_cannot_be_sharded_is_rejected(tmp_path: Path, changes: dict[str, Any], words: list[str]) -> None:
    found = end_of(job(tmp_path / "job", **({"shard": "fsdp"} | changes)))
    assert found["reason"] == "bad_config"
    assert all(word in found["message"] for word in words), found["message"]


@pytest.mark.parametrize(
    ("recipe", "source", "expected"),
    [("turn_grpo", "rows", "fsdp"), ("turn_ppo", "rows", None), ("turn_grpo", "toy", None), ("marsrl", "stream", "fsdp")],
)
def test_the_launchers_variable_divides_jobs_that_can_be_divided(
    monkeypatch: pytest.MonkeyPatch, recipe: str, source: str, expected: str | None
) -> None:
    config = config_of({"recipe": recipe, "base": "b", "source": {"kind": source}, "steps": 1})
    assert chosen_shard(config) is None
    monkeypatch.setenv("LEMMASCOPE_SHARD", "fsdp")
    assert chosen_shard(config) == expected
    monkeypatch.setenv("LEMMASCOPE_SHARD", "zero2")
    with pytest.raises(BadConfig, match="LEMMASCOPE_SHARD is 'zero2'"):
        chosen_shard(config)


def test_accelerates_own_ways_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "true")
    found = end_of(job(tmp_path / "job"))
    assert (found["reason"], "Use “shard” fsdp" in found["message"]) == ("bad_config", True)


def test_in_one_process_a_sharded_job_trains_as_without(tmp_path: Path) -> None:
    plain, sharded = job(tmp_path / "plain"), job(tmp_path / "sharded", shard="fsdp")
    for folder in (plain, sharded):
        end_of(folder)
    assert away(plain / "checkpoints/checkpoint-4", sharded / "checkpoints/checkpoint-4") == 0
