"""Failed jobs end with a reason code, a message, and no partial files."""

import errno
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from apps.recipes.mathematics.rows import Row
from tests.training.factory import SMALL, end_of, job, row, rows
from workers.training import checkpoints, problems
from workers.training.problems import explain
from workers.training.row_trainer import RowTrainer


def failed(folder: Path, reason: str, *words: str, **how: Any) -> None:
    found = end_of(folder, **how)
    assert (found["state"], found["reason"]) == ("failed", reason), found["message"]
    assert all(word in found["message"] for word in words), found["message"]
    assert not [path for path in folder.rglob("checkpoint-*") if not (path / "manifest.json").exists()]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"recipe": "alchemy"}, ["alchemy", "turn_grpo"]),
        ({"steps": 0}, ["steps"]),
        ({"speed": 9}, ["speed"]),
        ({"loss": {"clip": 1}}, ["clip", "low"]),
        ({"base": "nowhere"}, ["nowhere"]),
        ({"base": {"huge": {}}}, ["tiny"]),
        ({"source": {"kind": "toy", "toy": "chess"}}, ["chess", "copy"]),
        ({"source": {"kind": "wire"}}, ["stream"]),
        ({"micro_rows": 3}, ["divide"]),
        ({"learning_rate": float("nan")}, ["learning_rate"]),
        ({"temperature": 0}, ["temperature", "above 0"]),
        ({"seed": "x"}, ["seed", "whole number"]),
        ({"dataset": "x"}, ["dataset", "object"]),
        ({"loss": {"low": "x"}}, ["loss.low", "number"]),
        ({"loss": {"beta": float("nan")}}, ["loss.beta", "nan"]),
        ({"recipe": "orealh", "loss": {"token_rm": 1}}, ["loss.token_rm", "true or false"]),
        ({"lora": {"rank": "x"}}, ["lora.rank", "whole number"]),
        ({"loss": {"aggregation": "fixed"}}, ["longest"]),
        ({"recipe": "turn_sft", "loss": {"mastered_below": 0.2}}, ["mastered_below", "clipped"]),
    ],
)
def test_a_configuration_error_names_the_key(tmp_path: Path, changes: dict[str, Any], words: list[str]) -> None:
    failed(job(tmp_path, **changes), "bad_config", *words)


@pytest.mark.skipif(torch.cuda.is_available(), reason="has the device")
def test_a_missing_device_is_named(tmp_path: Path) -> None:
    failed(job(tmp_path, device="cuda"), "bad_config", "cuda")


@pytest.mark.parametrize(
    ("one", "reason", "words"),
    [
        (row(reward=float("nan")), "bad_rows", ["row 1", "reward"]),
        (row(logprobs=None), "bad_rows", ["row 1", "log-probabilities", "supervised"]),
        (row(advantage=None), "bad_rows", ["row 1", "advantage"]),
        (row(loss_mask=[2]), "bad_rows", ["mask"]),
        (row(loss_mask=[1, 1]), "bad_rows", ["1 tokens", "2 values"]),
        (row(split="benchmark", problem_id="P7"), "leak", ["P7", "benchmark"]),
    ],
)
def test_an_invalid_row_is_named(tmp_path: Path, one: Row, reason: str, words: list[str]) -> None:
    failed(job(tmp_path, [row(), one]), reason, *words)


def test_rows_without_log_probabilities_work_with_supervised_recipes(tmp_path: Path) -> None:
    given = [row(logprobs=None, advantage=None, reward=None)] * 8
    assert end_of(job(tmp_path, given, recipe="turn_sft"))["state"] == "finished"


def test_without_rows_there_is_nothing_to_learn(tmp_path: Path) -> None:
    failed(job(tmp_path, []), "nothing_to_learn", "no rows")


@pytest.mark.parametrize("kept", [0, 4, 200])
def test_a_truncated_shard_is_named(tmp_path: Path, kept: int) -> None:
    folder = job(tmp_path)
    shard = folder / "rows" / "000.parquet"
    shard.write_bytes(shard.read_bytes()[:kept])
    failed(folder, "bad_rows", "000.parquet")


def test_shards_must_match_the_datasets_manifest(tmp_path: Path) -> None:
    written = job(tmp_path / "first") / "rows" / "000.parquet"
    shards = {"000.parquet": hashlib.sha256(written.read_bytes()).hexdigest()}
    assert end_of(job(tmp_path / "whole", dataset={"shards": shards}))["state"] == "finished"
    failed(job(tmp_path / "changed", dataset={"shards": {"000.parquet": "0" * 64}}), "bad_rows", "000.parquet", "changed")
    failed(job(tmp_path / "missing", dataset={"shards": {**shards, "001.parquet": "0" * 64}}), "bad_rows", "001.parquet")
    added = job(tmp_path / "added", dataset={"shards": shards})
    (added / "rows" / "002.parquet").write_bytes(written.read_bytes())
    failed(added, "bad_rows", "002.parquet", "not in")


def test_another_tokenizer_than_the_recorded_one_is_rejected(tmp_path: Path) -> None:
    failed(job(tmp_path, dataset={"tokenizer": "0" * 64}), "other_tokenizer", "000000000000")


def test_rows_of_another_temperature_are_rejected(tmp_path: Path) -> None:
    failed(job(tmp_path / "wrong", dataset={"temperature": 0.8}), "bad_config", "temperature 0.8, but “temperature” is 1")
    assert end_of(job(tmp_path / "right", dataset={"temperature": 0.8}, temperature=0.8, steps=1))["state"] == "finished"
    supervised = job(tmp_path / "supervised", dataset={"temperature": 0.8}, recipe="turn_sft", steps=1)
    assert end_of(supervised)["state"] == "finished"


def test_rows_of_another_chat_template_are_rejected_unless_it_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workers.training.running.template_hash", lambda tokenizer: "1" * 64)
    failed(job(tmp_path / "other", dataset={"chat_template": "2" * 64}), "bad_config", "chat template 222222222222…")
    assert end_of(job(tmp_path / "same", dataset={"chat_template": "1" * 64}, steps=1))["state"] == "finished"
    meant = job(tmp_path / "meant", dataset={"chat_template": "2" * 64}, any_template=True, steps=1)
    assert end_of(meant)["state"] == "finished"


@pytest.mark.parametrize(("name", "kept"), [("config.json", 20), ("model.safetensors", -8), ("tokenizer.json", 40)])
def test_an_incomplete_base_is_named(tmp_path: Path, name: str, kept: int) -> None:
    (tmp_path / "first").mkdir()
    first = job(tmp_path / "first")
    end_of(first)
    damaged = first / "base" / name
    damaged.write_bytes(damaged.read_bytes()[:kept])
    (tmp_path / "second").mkdir()
    failed(job(tmp_path / "second", base=str(first / "base")), "bad_config", str(first / "base"), "may be incomplete")


def test_a_checkpoint_of_another_architecture_is_rejected(tmp_path: Path) -> None:
    folder = job(tmp_path)
    end_of(folder)
    manifest = folder / "checkpoints" / "checkpoint-4" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["architecture"]["hidden_size"] = 4096
    manifest.write_text(json.dumps(content))
    failed(folder, "other_architecture", "hidden_size", "4096", str(SMALL["hidden"]), resume=True)


def cut_off(weights: Path) -> None:
    weights.write_bytes(weights.read_bytes()[:-8])


def test_a_job_continues_from_the_checkpoint_before_a_damaged_one_and_reports_it(tmp_path: Path) -> None:
    folder = job(tmp_path, save_every=2)
    end_of(folder)
    cut_off(folder / "checkpoints" / "checkpoint-4" / "model.safetensors")
    found = end_of(folder, resume=True)
    assert (found["state"], found["step"], found["attempt"]) == ("finished", 4, 2)
    assert "checkpoint-4 is damaged: model.safetensors" in found["message"]
    assert "Continued from checkpoint-2" in found["message"]
    assert [path.name for path in checkpoints.complete(folder / "checkpoints")] == ["checkpoint-2", "checkpoint-4"]
    assert checkpoints.broken_files(folder / "checkpoints" / "checkpoint-4") == []


@pytest.mark.parametrize("name", ["manifest.json", "ref/adapter_model.safetensors"])
def test_manifests_and_files_in_subfolders_are_checked_too(tmp_path: Path, name: str) -> None:
    """A job with a continued adapter has TRL's reference copy of it in a subfolder."""
    first = job(tmp_path / "first", steps=2, save_every=2, lora={"rank": 4, "alpha": 8})
    end_of(first)
    known: dict[str, Any] = {"save_every": 2, "lora": {"rank": 4, "alpha": 8}, "loss": {"beta": 0.1}}
    folder = job(tmp_path / "second", base=str(first / "checkpoints" / "checkpoint-2"), **known)
    end_of(folder)
    cut_off(folder / "checkpoints" / "checkpoint-4" / name)
    found = end_of(folder, resume=True)
    assert f"checkpoint-4 is damaged: {name}" in found["message"]
    assert checkpoints.broken_files(folder / "checkpoints" / "checkpoint-4") == []


def test_one_of_several_processes_renames_a_damaged_checkpoint_and_all_use_the_same_one(tmp_path: Path) -> None:
    folder = job(tmp_path, save_every=2)
    end_of(folder)
    cut_off(folder / "checkpoints" / "checkpoint-4" / "model.safetensors")
    found = [checkpoints.latest_whole(folder / "checkpoints", main=main)[0] for main in (False, True, False)]
    assert {path.name for path in found if path} == {"checkpoint-2"}
    assert (folder / "checkpoints" / "damaged-checkpoint-4").exists()
    checkpoints.prune(folder / "checkpoints", keep=1)
    assert (folder / "checkpoints" / "damaged-checkpoint-4").exists(), "no later checkpoint has replaced it"
    end_of(folder, resume=True)
    assert not (folder / "checkpoints" / "damaged-checkpoint-4").exists()


def test_with_only_damaged_checkpoints_a_job_is_not_resumed(tmp_path: Path) -> None:
    folder = job(tmp_path, save_every=2)
    end_of(folder)
    for name in ("checkpoint-2", "checkpoint-4"):
        cut_off(folder / "checkpoints" / name / "model.safetensors")
    failed(folder, "other_architecture", "checkpoint-4", "checkpoint-2", "model.safetensors", resume=True)


def test_a_row_without_the_policys_own_tokens_is_named(tmp_path: Path) -> None:
    given = rows(4)
    given[2] = replace(given[2], loss_mask=[0] * len(given[2].completion_ids))
    failed(job(tmp_path, given), "bad_rows", "000.parquet, row 2", "none of its tokens")


def test_a_second_start_in_the_same_folder_is_rejected(tmp_path: Path) -> None:
    folder = job(tmp_path)
    end_of(folder)
    found = end_of(folder)
    assert (found["reason"], "Resume" in found["message"]) == ("bad_config", True)


def test_a_loss_of_nan_changes_no_weight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With NaN in step 3, the checkpoint of step 2 stays the last one."""
    compute = RowTrainer._compute_loss

    def broken(self: RowTrainer, model: Any, inputs: Any) -> Any:
        return compute(self, model, inputs) * (float("nan") if self.state.global_step == 2 else 1)

    monkeypatch.setattr(RowTrainer, "_compute_loss", broken)
    folder = job(tmp_path, save_every=1)
    failed(folder, "not_a_number", "step 3")
    assert checkpoints.complete(folder / "checkpoints")[-1].name == "checkpoint-2"


def test_a_full_disk_ends_the_job_and_keeps_the_last_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seal = checkpoints.seal

    def full(folder: Path, facts: Any) -> None:
        if folder.name == "checkpoint-4":
            raise OSError(errno.ENOSPC, "No space left on device", str(folder / "manifest.json"))
        seal(folder, facts)

    monkeypatch.setattr(checkpoints, "seal", full)
    folder = job(tmp_path, save_every=2)
    failed(folder, "disk_full", "The disk is full")
    assert [path.name for path in checkpoints.complete(folder / "checkpoints")] == ["checkpoint-2"]


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("CUDA error: device-side assert triggered"), "device_lost"),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), "out_of_memory"),
        (RuntimeError("PytorchStreamWriter failed: No space left on device"), "disk_full"),
        (KeyError("what"), "crashed"),
    ],
)
def test_errors_of_libraries_have_a_reason(error: Exception, reason: str) -> None:
    assert explain(error)[0] == reason


@pytest.mark.parametrize(("free", "reason"), [(4096, "disk_full"), (1 << 40, "crashed")])
def test_an_incomplete_file_means_a_full_disk_if_there_is_no_free_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, reason: str
) -> None:
    monkeypatch.setattr(problems, "_room", lambda folder: free)
    error = RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 581504 vs 581396")
    assert explain(error, tmp_path)[0] == reason


def test_a_leak_is_found_among_many_rows(tmp_path: Path) -> None:
    failed(job(tmp_path, [*rows(5), row(split="test"), *rows(5)]), "leak", "row 5")


@pytest.mark.parametrize("token", [-1, 49, 100_000])
def test_a_token_unknown_to_the_model_is_named(tmp_path: Path, token: int) -> None:
    """No tokenizer was recorded, so it cannot be compared."""
    folder = job(tmp_path, [replace(row(), completion_ids=[token])])
    failed(folder, "bad_rows", f"the token {token}", "the base model has 49")
