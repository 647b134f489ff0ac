"""Rows that another policy wrote: caps on ratios, truncated importance sampling, and rows that are left out."""

from math import log
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.factory import end_of, job, lines, row, rows, trainer
from workers.training.row_trainer import RowTrainer
from workers.training.rows.batches import tensors_of


def _loss(made: RowTrainer, batch: dict[str, Any], logprobs: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[float, Any]:
    """Loss of a batch where the model gives `logprobs`, and its gradient."""
    made.prepare(batch)
    batch["num_items_in_batch"] = (batch["tool_mask"] * batch["completion_mask"]).sum()
    asked = logprobs.clone().requires_grad_()
    made.packs_rows = False
    monkeypatch.setattr(made, "_without_empty_columns", lambda *_, **__: (asked, torch.zeros_like(asked), None))
    made.model.train()
    made.current_gradient_accumulation_steps = 1
    loss = made._compute_loss(made.model, batch)
    loss.backward()
    return float(loss), asked.grad


def _two(advantage: float) -> list[Any]:
    return [row("1?", "12", advantage=advantage, logprobs=[-3.0, -3.0]) for _ in range(2)]


@pytest.mark.parametrize("recipe", ["turn_grpo", "orealh"])
def test_a_negative_row_is_pushed_no_more_than_its_cap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: str) -> None:
    """The model is e⁵ times as sure as the policy that wrote the row; without a cap the loss is e⁵ times as large."""
    now = torch.full((2, 2), 2.0) - 3.0 + 3.0
    found = {}
    for cap in (None, 3.0):
        made = trainer(tmp_path, recipe, rows_per_step=2, loss={"ratio_cap": cap, "beta": 0.0, "negative": 1.0})
        found[cap] = _loss(made, tensors_of(_two(-1.0), pad=0), now, monkeypatch)
    assert found[None][0] == pytest.approx(torch.tensor(5.0).exp().item(), rel=1e-5)
    assert found[3.0][0] == pytest.approx(3.0)
    assert not found[3.0][1].any()


def test_oreal_has_a_cap_unless_it_is_removed(tmp_path: Path) -> None:
    assert trainer(tmp_path, "orealh", rows_per_step=2).job.loss.ratio_cap == 3.0
    assert trainer(tmp_path, "turn_grpo", rows_per_step=2).job.loss.ratio_cap is None


@pytest.mark.parametrize(("cap", "weight", "capped"), [(10.0, 2.0, 0.0), (1.5, 1.5, 1.0)])
def test_recomputed_rows_are_weighted_by_how_far_their_policy_was(
    tmp_path: Path, cap: float, weight: float, capped: float
) -> None:
    """Decoupled PPO: the rows' policy gave every token half of the model's probability, so each counts twice, up to the cap."""
    made = trainer(tmp_path, given=rows(8), rows_per_step=8, loss={"old": "recompute", "correction_cap": cap})
    batch = tensors_of(rows(8), pad=made.processing_class.pad_token_id)
    own = batch["tool_mask"] * batch["completion_mask"]
    with torch.no_grad():
        fresh = made.in_pieces(made.model, batch)
    before = batch["advantages"].clone()
    batch["old_per_token_logps"] = (fresh - log(2)) * own
    made._with_own_logprobs(batch)
    torch.testing.assert_close(batch["old_per_token_logps"], fresh * own, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(batch["advantages"], before[:, None] * own * weight, atol=1e-4, rtol=1e-4)
    assert made._metrics["train"]["capped"] == [capped]


@pytest.mark.parametrize("recipe", ["turn_grpo", "orealh"])
def test_a_negative_row_of_a_policy_too_far_away_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: str
) -> None:
    """Of two equal rows, one is 2 nats a token less probable now than when it was written."""
    made = trainer(tmp_path, recipe, rows_per_step=2, loss={"mask_above": 1.0, "beta": 0.0})
    now = torch.tensor([[-5.0, -5.0], [-3.0, -3.0]])
    _, gradient = _loss(made, tensors_of(_two(-1.0), pad=0), now, monkeypatch)
    assert not gradient[0].any()
    assert gradient[1].all()
    assert made._metrics["train"]["masked_rows"] == [0.5]
    _, gradient = _loss(made, tensors_of(_two(1.0), pad=0), now, monkeypatch)
    assert gradient.all()


def test_the_shares_of_capped_tokens_and_rows_left_out_are_in_the_metrics(tmp_path: Path) -> None:
    folder = job(tmp_path, steps=1, loss={"old": "recompute", "correction_cap": 1.1, "mask_above": 1e-4})
    assert end_of(folder)["state"] == "finished"
    (measured,) = lines(folder / "metrics.jsonl")
    assert measured["capped"] == 0
    assert measured["masked_rows"] == 0.25
    assert measured["useful_tokens"] > 0.8


@pytest.mark.parametrize(
    ("loss", "why"),
    [
        ({"correction_cap": 2.0}, "needs “loss.old” recompute"),
        ({"ratio_cap": 1.1}, "above 1.2"),
        ({"mask_above": -1}, "above 0"),
        ({"mask_above": True}, "above 0"),
    ],
)
def test_limits_that_cannot_hold_are_refused(tmp_path: Path, loss: dict[str, Any], why: str) -> None:
    assert why in end_of(job(tmp_path, loss=loss))["message"]


def test_supervised_rows_have_no_policy_to_compare_with(tmp_path: Path) -> None:
    assert "has none" in end_of(job(tmp_path, recipe="turn_sft", loss={"mask_above": 1.0}))["message"]
