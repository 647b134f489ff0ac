"""Jobs that start from a LoRA checkpoint: they continue the adapter, or merge it to train all weights; nothing is lost."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.training.factory import end_of, job, lines, rows
from workers.training.checkpoints import read_manifest
from workers.training.models import load_model

LORA = {"rank": 4, "alpha": 8}
STILL = {"learning_rate": 0.0, "last_learning_rate": 0.0, "steps": 1}


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """A LoRA checkpoint that differs from its base."""
    folder = job(tmp_path / "first", rows(16), lora=LORA, learning_rate=3e-2)
    assert end_of(folder)["state"] == "finished"
    return folder / "checkpoints" / "checkpoint-4"


def weights(checkpoint: Path) -> Any:
    return torch.cat([one.detach().flatten() for one in load_model(checkpoint).parameters()])


def test_a_continued_adapter_starts_unchanged_and_keeps_its_base(tmp_path: Path, adapter: Path) -> None:
    folder = job(tmp_path / "second", rows(16), base=str(adapter), lora=LORA, **STILL)
    assert end_of(folder)["state"] == "finished"
    after = folder / "checkpoints" / "checkpoint-1"
    torch.testing.assert_close(weights(after), weights(adapter))
    below = [json.loads((path / "adapter_config.json").read_text())["base_model_name_or_path"] for path in (adapter, after)]
    assert below[0] == below[1] == str(tmp_path / "first" / "base"), "the base that an engine serves"
    assert read_manifest(after)["architecture"] == read_manifest(adapter)["architecture"]


def test_a_continued_adapter_learns_with_its_initial_state_as_reference(tmp_path: Path, adapter: Path) -> None:
    folder = job(tmp_path / "second", rows(16), base=str(adapter), lora=LORA, loss={"beta": 0.1}, learning_rate=1e-2)
    assert end_of(folder)["state"] == "finished"
    kl = [line["kl"] for line in lines(folder / "metrics.jsonl")]
    assert kl[0] == pytest.approx(0, abs=1e-6), "the reference includes the adapter"
    assert kl[-1] > 0
    assert not torch.allclose(weights(folder / "checkpoints" / "checkpoint-4"), weights(adapter))


def test_a_job_with_a_continued_adapter_can_be_resumed(tmp_path: Path, adapter: Path) -> None:
    # The interrupted job gets more steps when resumed, so its learning rate must not depend on the number of steps.
    known: dict[str, Any] = {
        "base": str(adapter),
        "lora": LORA,
        "loss": {"beta": 0.1},
        "save_every": 2,
        "last_learning_rate": 1e-3,
    }
    whole = job(tmp_path / "whole", rows(16), **known)
    torn = job(tmp_path / "torn", rows(16), **known, steps=2)
    assert end_of(whole)["state"] == end_of(torn)["state"] == "finished"
    (torn / "config.json").write_text(json.dumps(json.loads((torn / "config.json").read_text()) | {"steps": 4}))
    assert end_of(torn, resume=True)["step"] == 4
    last = Path("checkpoints/checkpoint-4/adapter_model.safetensors")
    found, expected = load_file(torn / last), load_file(whole / last)
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        torch.testing.assert_close(found[name], value)


def test_all_weights_can_be_trained_from_an_adapter(tmp_path: Path, adapter: Path) -> None:
    still = job(tmp_path / "still", rows(16), base=str(adapter), loss={"beta": 0.1}, **STILL)
    assert end_of(still)["state"] == "finished"
    torch.testing.assert_close(weights(still / "checkpoints" / "checkpoint-1"), weights(adapter))
    moving = job(tmp_path / "moving", rows(16), base=str(adapter), loss={"beta": 0.1})
    assert end_of(moving)["state"] == "finished"
    assert lines(moving / "metrics.jsonl")[0]["kl"] == pytest.approx(0, abs=1e-6), "the reference is the initial model"
    assert not torch.allclose(weights(moving / "checkpoints" / "checkpoint-4"), weights(adapter))


def test_another_rank_than_the_adapters_is_rejected_with_advice(tmp_path: Path, adapter: Path) -> None:
    found = end_of(job(tmp_path / "second", rows(16), base=str(adapter), lora={"rank": 8, "alpha": 8}))
    assert found["reason"] == "bad_config"
    assert "rank 4 and α 8" in found["message"]
    assert "train all weights" in found["message"]


def test_a_value_head_with_a_continued_adapter_is_rejected(tmp_path: Path, adapter: Path) -> None:
    found = end_of(job(tmp_path / "second", rows(16), base=str(adapter), recipe="turn_ppo", lora=LORA))
    assert (found["state"], "lora" in found["message"]) == ("failed", True)


def test_an_engine_that_follows_gets_the_adapter_before_the_first_step(tmp_path: Path, adapter: Path) -> None:
    folder = job(tmp_path / "second", rows(8), base=str(adapter), lora=LORA, source={"kind": "stream", "wait": 100})
    (folder / "rows" / "END").touch()
    assert end_of(folder)["state"] == "finished"
    assert sorted(path.name for path in (folder / "policy").iterdir()) == ["0", "1"]
    published = load_file(folder / "policy" / "0" / "adapter_model.safetensors")
    for name, value in load_file(adapter / "adapter_model.safetensors").items():
        torch.testing.assert_close(published[name], value)
