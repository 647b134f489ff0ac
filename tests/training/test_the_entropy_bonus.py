"""The entropy bonus is added up as the loss is: QED-Nano's recipes sum it over the tokens of a row, as PipelineRL does."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.factory import rows, trainer
from workers.training.rows.batches import tensors_of

BONUS, ENTROPY = 0.01, 2.0


@pytest.mark.parametrize("aggregation", ["token", "seq", "fixed", "sum"])
def test_the_bonus_has_the_denominator_of_the_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aggregation: Any) -> None:
    found = []
    batch = tensors_of(rows(8), pad=0)
    own = batch["tool_mask"] * batch["completion_mask"]
    batch["num_items_in_batch"] = own.sum()
    for bonus in (0.0, BONUS):
        settings = {"entropy_bonus": bonus, "aggregation": aggregation, "longest": 5, "beta": 0.0}
        made = trainer(tmp_path, rows_per_step=8, loss=settings)
        made.packs_rows = False
        values = torch.full(own.shape, -1.0), torch.full(own.shape, ENTROPY), None
        monkeypatch.setattr(made, "_without_empty_columns", lambda *_, values=values, **__: values)
        made.model.train()
        made.current_gradient_accumulation_steps = 1
        found.append(float(made._compute_loss(made.model, dict(batch))))
    tokens = float(own.sum())
    total = {"token": 1.0, "seq": 1.0, "fixed": tokens / 8 / 5, "sum": tokens / 8}[aggregation]
    assert found[0] - found[1] == pytest.approx(BONUS * ENTROPY * total, abs=1e-5)


def test_the_recipes_with_a_bonus_sum_it(tmp_path: Path) -> None:
    for recipe in ("grpo_rubric", "rc_rl"):
        loss = trainer(tmp_path, recipe, rows_per_step=8).job.loss
        assert (loss.aggregation, loss.entropy_bonus) == ("sum", 1e-4)
