"""OREAL's token reward model: it matches the one in NumPy, and is trained and saved together with the policy."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from tests.learning import numpy_losses
from tests.training.factory import end_of, job, lines, row, rows, trainer
from workers.training.losses.objectives import OrealTrainer
from workers.training.losses.token_rewards import STEPS_ALONE, reward_loss, token_weights
from workers.training.rows.batches import tensors_of

SURE = [row("3?", "12", reward=1.0, advantage=0.5), row("4?", "12", reward=0.0, advantage=-0.5)] * 4
FAST = {"rows_per_step": 8, "learning_rate": 1e-3, "last_learning_rate": 1e-3}


def test_its_weights_and_its_loss_match_the_golden_numbers() -> None:
    logits = torch.tensor([[2.0, 0.0, -1.0, 0.5], [-2.0, 0.0, 1.0, -0.5], [9.0, 9.0, 9.0, 9.0]])
    own = torch.tensor([[1, 1, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0]])
    found = token_weights(logits, own, torch.tensor([True, False, True]))
    np.testing.assert_allclose(found[0], [0.761594, 0.462117, 0, 0.394119], atol=1e-6)
    np.testing.assert_allclose(found[1], [0.761594, 0.462117, 0.165140, 0.185333], atol=1e-6)
    assert not found[2].any()
    correct = [True, False]
    expected = numpy_losses.reward_model_loss(logits[:2].numpy(), own[:2].numpy(), correct).value
    lost = reward_loss(logits, own, torch.tensor([*correct, True]))
    assert float(lost) / 2 == pytest.approx(expected, abs=1e-6), "a row without own tokens has no effect"


def test_it_learns_right_rows_and_weights_their_tokens(tmp_path: Path) -> None:
    made = trainer(tmp_path, "orealh", SURE, steps=25, loss={"token_rm": True}, **FAST)
    made.train()
    assert isinstance(made, OrealTrainer)
    assert made.token_rewards is not None
    weights = made.token_rewards.weights(tensors_of(SURE[:2], pad=0), 2)
    assert float(weights.min()) > 0.5, "for all tokens of the right and the wrong answer"


def test_during_the_first_steps_only_it_learns(tmp_path: Path) -> None:
    last = STEPS_ALONE + 1
    kept = {"steps": last, "save_every": 1, "keep": last}
    folder = job(tmp_path, SURE, recipe="orealh", loss={"token_rm": True, "beta": 0.0}, **kept, **FAST)
    end_of(folder)
    first, alone, together = (
        load_file(folder / f"checkpoints/checkpoint-{step}/model.safetensors")["model.embed_tokens.weight"]
        for step in (1, STEPS_ALONE, last)
    )
    assert first.equal(alone)
    assert not alone.equal(together)
    lost = [line["token_rm_loss"] for line in lines(folder / "metrics.jsonl")]
    assert lost[0] == pytest.approx(np.log(2), abs=1e-6), "untrained"
    assert lost[-1] < lost[0]


def test_token_weights_need_oreals_loss_and_rewards(tmp_path: Path) -> None:
    found = end_of(job(tmp_path / "a", recipe="turn_grpo", loss={"token_rm": True}))
    assert (found["reason"], "OREAL" in found["message"]) == ("bad_config", True)
    found = end_of(job(tmp_path / "b", [row(), row(reward=None)], recipe="orealh", loss={"token_rm": True}))
    assert (found["reason"], "row 1 has no reward" in found["message"]) == ("bad_rows", True)


def test_an_adapter_can_be_trained_together_with_it(tmp_path: Path) -> None:
    found = end_of(job(tmp_path, rows(8), recipe="orealh", lora={"rank": 4}, loss={"token_rm": True}))
    assert found["state"] == "finished"
