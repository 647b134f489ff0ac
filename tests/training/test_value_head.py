"""PPO's value head: advantages are GAE over own tokens, the head learns the returns, and weights do not contain it."""

from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from apps.recipes.mathematics.ppo import token_advantages
from tests.training.factory import end_of, job, row, rows, trainer
from workers.training.losses.value_head import ValueTrainer
from workers.training.rows.batches import tensors_of


def test_advantages_use_the_values_before_the_step(tmp_path: Path) -> None:
    made = trainer(tmp_path, "turn_ppo", rows_per_step=8)
    assert isinstance(made, ValueTrainer)
    torch.nn.init.normal_(made.model.value_head.weight)
    batch = tensors_of(rows(8), pad=0)
    made.prepare(batch)
    own = (batch["tool_mask"] * batch["completion_mask"]).numpy()
    expected = np.zeros(own.shape)
    for place, one in enumerate(rows(8)):
        rewards = np.zeros(own.shape[1])
        rewards[np.flatnonzero(own[place])[-1]] = one.reward or 0.0
        expected[place], returns = token_advantages(rewards.tolist(), batch["old_values"][place].tolist(), own[place].tolist())
        np.testing.assert_allclose(batch["returns"][place].numpy(), returns, atol=1e-5)
    inside = expected[own > 0]
    white = (expected - inside.mean()) / (inside.std(ddof=1) + 1e-8) * own
    np.testing.assert_allclose(batch["advantages"].numpy(), white, atol=1e-4)


def test_the_head_learns_the_value_of_a_prompt(tmp_path: Path) -> None:
    given = [row("3?", "1", reward=1.0), row("4?", "1", reward=0.0)] * 4
    made = trainer(tmp_path, "turn_ppo", given, rows_per_step=8, steps=40, learning_rate=3e-3, last_learning_rate=3e-3)
    made.train()
    with torch.no_grad():
        assert isinstance(made, ValueTrainer)
        values = made.values(made.model, tensors_of(given[:2], pad=0))[:, 0]
    assert values[0] > values[1] + 0.5


def test_the_head_is_saved_separately_from_the_weights(tmp_path: Path) -> None:
    folder = job(tmp_path, recipe="turn_ppo")
    last = folder / end_of(folder)["checkpoint"]
    assert not [name for name in load_file(last / "model.safetensors") if "value" in name]
    assert set(load_file(last / "value_head.safetensors")) == {"value_head.weight", "value_head.bias"}


def test_an_adapter_with_a_value_head_is_rejected(tmp_path: Path) -> None:
    found = end_of(job(tmp_path, recipe="turn_ppo", lora={"rank": 4}))
    assert found["reason"] == "bad_config"
    assert "lora" in found["message"]


def test_a_reward_is_needed(tmp_path: Path) -> None:
    found = end_of(job(tmp_path, [row(), row(reward=None)], recipe="turn_ppo"))
    assert found["reason"] == "bad_rows"
    assert "row 1 has no reward" in found["message"]
