"""Trained weights are float32 with any arithmetic: a step at a paper's learning rate is too small for bfloat16."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from tests.training.factory import SMALL, end_of, job, rows, trainer
from workers.training.models import load_model
from workers.training.problems import BadConfig
from workers.training.row_trainer import check_masters
from workers.training.tiny import tiny_model

LOW: dict[str, Any] = {"learning_rate": 1e-6, "last_learning_rate": 1e-6, "steps": 20}


def weights(folder: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = load_file(folder / "model.safetensors")
    return found


@pytest.mark.parametrize("recipe", ["turn_grpo", "turn_ppo", "orealh"])
def test_twenty_steps_at_one_millionth_change_more_than_90_percent_of_the_weights(tmp_path: Path, recipe: str) -> None:
    folder = job(tmp_path / "job", rows(16), recipe=recipe, dtype="bfloat16", **LOW)
    end = end_of(folder)
    before, after = weights(folder / "base"), weights(folder / end["checkpoint"])
    moved = sum(int((before[name] != after[name]).sum()) for name in before)
    assert all(tensor.dtype == torch.float32 for tensor in after.values())
    assert moved > 0.9 * sum(tensor.numel() for tensor in before.values())


def test_the_arithmetic_is_bfloat16_where_configured(tmp_path: Path) -> None:
    plain, mixed = (
        end_of(job(tmp_path / dtype, dtype=dtype, steps=1, learning_rate=1e-3))
        and weights(tmp_path / dtype / "checkpoints" / "checkpoint-1")
        for dtype in ("float32", "bfloat16")
    )
    assert any(not torch.equal(plain[name], mixed[name]) for name in plain)


def test_an_adapter_is_float32_over_a_base_of_bfloat16(tmp_path: Path) -> None:
    end = end_of(job(tmp_path / "job", dtype="bfloat16", lora={"rank": 4, "alpha": 8}, **LOW))
    adapter = load_file(tmp_path / "job" / end["checkpoint"] / "adapter_model.safetensors")
    assert all(tensor.dtype == torch.float32 for tensor in adapter.values())
    moved = [tensor for name, tensor in adapter.items() if "lora_B" in name]
    assert all(bool((tensor != 0).float().mean() > 0.9) for tensor in moved), "they start at 0"


def test_trained_weights_in_bfloat16_are_rejected_with_advice(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"model\.embed_tokens\.weight is bfloat16.*float32"):
        check_masters(tiny_model(**SMALL).to(torch.bfloat16))
    frozen = tiny_model(**SMALL).to(torch.bfloat16).requires_grad_(False)
    check_masters(frozen)


def test_an_engine_reads_a_checkpoint_in_the_type_of_its_base(tmp_path: Path) -> None:
    """float32 weights are for training; the model is served like its base, with half the memory."""
    base = tmp_path / "base"
    tiny_model(**SMALL).to(torch.bfloat16).save_pretrained(base)
    trainer(tmp_path / "other").processing_class.save_pretrained(base)
    folder = job(tmp_path / "job", base=str(base), steps=1)
    checkpoint = folder / end_of(folder)["checkpoint"]
    assert json.loads((checkpoint / "config.json").read_text())["dtype"] == "bfloat16"
    assert all(tensor.dtype == torch.float32 for tensor in weights(checkpoint).values())
    assert load_model(checkpoint).dtype == torch.float32, "a resumed job continues in float32"
