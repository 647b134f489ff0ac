"""TRL's losses in our trainers equal the losses in NumPy in value and gradient, for the pinned minor version."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from apps.recipes.mathematics.losses import Clip, OrealFactors
from tests.learning.numpy_losses import clipped_loss, oreal_loss, supervised_loss
from tests.training.factory import rows, trainer
from workers.training.row_trainer import RowTrainer
from workers.training.rows.batches import tensors_of

LONGEST = 6


def scored(made: RowTrainer, batch: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> tuple[float, Any, Any]:
    """Loss of a batch with given log-probabilities: its value, its gradient, and the log-probabilities."""
    made.prepare(batch)
    batch["num_items_in_batch"] = (batch["tool_mask"] * batch["completion_mask"]).sum()
    shape = batch["completion_ids"].shape
    logprobs = (-torch.rand(shape, generator=torch.Generator().manual_seed(1)) * 2).requires_grad_()
    entropies = torch.zeros(shape)
    monkeypatch.setattr(made, "_get_per_token_logps_and_entropies", lambda *_, **__: (logprobs, entropies, None))
    made.model.train()
    made.current_gradient_accumulation_steps = 1
    loss = made._compute_loss(made.model, batch)
    loss.backward()
    assert logprobs.grad is not None
    return loss.item(), logprobs.grad.numpy(), logprobs.detach().numpy()


@pytest.mark.parametrize("aggregation", ["token", "seq", "fixed", "sum"])
@pytest.mark.parametrize("per_token", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.05])
def test_the_clipped_loss_equals_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aggregation: Any, per_token: bool, beta: float
) -> None:
    settings = {"low": 0.2, "high": 0.28, "beta": beta, "aggregation": aggregation, "longest": LONGEST}
    made = trainer(tmp_path, rows_per_step=8, loss=settings)
    batch = tensors_of(rows(8), pad=0)
    if per_token:
        spread = torch.linspace(-1, 1, batch["completion_ids"].numel()).reshape(batch["completion_ids"].shape)
        batch["advantages"] = spread * batch["tool_mask"]
    reference = torch.full(batch["completion_ids"].shape, -0.8)
    if beta:
        batch["ref_per_token_logps"] = reference
    value, gradient, logprobs = scored(made, dict(batch), monkeypatch)
    expected = clipped_loss(
        logprobs,
        batch["old_per_token_logps"].numpy(),
        batch["advantages"].numpy(),
        (batch["tool_mask"] * batch["completion_mask"]).numpy(),
        Clip(0.2, 0.28, beta, aggregation, LONGEST),
        reference=reference.numpy(),
    )
    assert value == pytest.approx(expected.value, abs=1e-5)
    np.testing.assert_allclose(gradient, expected.gradient, atol=1e-6)


def test_oreals_loss_equals_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(tmp_path, "orealh", rows_per_step=8, loss={"ratio_cap": None})
    batch = tensors_of(rows(8), pad=0)
    batch["ref_per_token_logps"] = torch.full(batch["completion_ids"].shape, -0.8)
    value, gradient, logprobs = scored(made, dict(batch), monkeypatch)
    expected = oreal_loss(
        logprobs,
        batch["old_per_token_logps"].numpy(),
        batch["ref_per_token_logps"].numpy(),
        batch["advantages"].numpy(),
        (batch["tool_mask"] * batch["completion_mask"]).numpy(),
        factors=OrealFactors(),
    )
    assert value == pytest.approx(expected.value, abs=1e-5)
    np.testing.assert_allclose(gradient, expected.gradient, atol=1e-6)


def test_the_supervised_loss_equals_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = trainer(tmp_path, "turn_sft", rows_per_step=8)
    batch = tensors_of(rows(8), pad=0)
    value, gradient, logprobs = scored(made, dict(batch), monkeypatch)
    expected = supervised_loss(logprobs, (batch["tool_mask"] * batch["completion_mask"]).numpy())
    assert value == pytest.approx(expected.value, abs=1e-5)
    np.testing.assert_allclose(gradient, expected.gradient, atol=1e-6)


def test_log_probabilities_equal_those_of_a_plain_softmax(tmp_path: Path) -> None:
    """TRL's fused head is compared with a plain softmax; padding on the left changes nothing."""
    made = trainer(tmp_path, rows_per_step=8)
    given = rows(8)
    batch = tensors_of(given, pad=0)
    made.model.eval()
    with torch.no_grad():
        found, _ = made.logprobs(made.model, batch)
        for place, one in enumerate(given):
            ids = torch.tensor([[*one.prompt_ids, *one.completion_ids]])
            plain = made.model(input_ids=ids).logits.log_softmax(-1)[0, len(one.prompt_ids) - 1 : -1]
            expected = plain.gather(1, torch.tensor(one.completion_ids)[:, None])[:, 0]
            torch.testing.assert_close(found[place, : len(one.completion_ids)], expected, atol=1e-5, rtol=1e-4)
