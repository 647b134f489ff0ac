"""Tensors from rows: padding on the outside, zeros under the mask, and nothing lost."""

import pytest
import torch

from tests.training.factory import row, rows
from workers.training.rows.batches import silence_mastered, silent_rows, tensors_of

SURE, UNSURE = -0.001, -1.0


def test_prompts_are_padded_on_the_left_and_completions_on_the_right() -> None:
    batch = tensors_of([row("3=", "12"), row("45=", "1")], pad=0)
    assert batch["prompt_mask"].tolist() == [[0, 1, 1], [1, 1, 1]]
    assert batch["completion_mask"].tolist() == [[1, 1], [1, 0]]
    assert batch["prompt_ids"][0, 0] == batch["completion_ids"][1, 1] == 0


def test_masked_log_probabilities_are_0() -> None:
    batch = tensors_of(rows(8), pad=0)
    assert torch.isfinite(batch["old_per_token_logps"]).all()
    assert (batch["old_per_token_logps"][batch["tool_mask"] == 0] == 0).all()


def test_log_probabilities_are_left_out_where_a_row_has_none() -> None:
    assert "old_per_token_logps" not in tensors_of([row(), row(logprobs=None)], pad=0)
    assert "rewards" not in tensors_of([row(), row(reward=None)], pad=0)


def test_padding_rows_are_masked() -> None:
    batch = silent_rows(tensors_of(rows(3), pad=0), 2)
    assert len(batch["prompt_ids"]) == 5
    assert batch["tool_mask"][3:].sum() == batch["advantages"][3:].abs().sum() == 0


@pytest.mark.parametrize(("target", "expected"), [(0.6, [[0, 1], [1, 1]]), (0.05, [[1, 1], [1, 1]])])
def test_well_mastered_tokens_of_right_rows_lose_their_advantage_below_the_target(
    target: float, expected: list[list[int]]
) -> None:
    given = [row("3", "12", logprobs=[SURE, UNSURE], reward=1.0), row("3", "12", logprobs=[SURE, SURE], reward=0.0)]
    batch = tensors_of(given, pad=0)
    silenced = silence_mastered(batch, target)
    assert batch["advantages"].tolist() == expected
    assert silenced == pytest.approx(1 - torch.tensor(expected, dtype=torch.float32).mean().item())
