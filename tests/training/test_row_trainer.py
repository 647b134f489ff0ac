"""Rows go in whole: any number of them, cut into any micro-batches, with a reference, with an adapter."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.training.factory import row, rows, trainer
from workers.learning.rows import Row
from workers.training.row_trainer import RowTrainer


class Given:
    """Always the same rows, however many."""

    def __init__(self, given: list[Row]) -> None:
        self.given = given

    def rows(self, step: int, policy: Any) -> list[Row]:
        return self.given

    def measures(self) -> dict[str, float]:
        return {}


def weights(made: RowTrainer) -> Any:
    return torch.cat([one.detach().flatten() for one in made.model.parameters()])


def taught(folder: Path, given: list[Row], **changes: Any) -> Any:
    made = trainer(folder, given=given, steps=1, **changes)
    made.source = Given(given)
    made.train()
    return weights(made)


@pytest.mark.parametrize("aggregation", ["token", "seq", "sum"])
def test_micro_batches_give_the_weights_of_one_batch(tmp_path: Path, aggregation: str) -> None:
    """Seven rows, for which nothing is divisible: the rows that fill up teach nothing and count for nothing."""
    loss = {"aggregation": aggregation, "beta": 0.0}
    whole = taught(tmp_path / "a", rows(7), rows_per_step=7, loss=loss)
    cut = taught(tmp_path / "b", rows(7), rows_per_step=8, micro_rows=2, loss=loss)
    torch.testing.assert_close(whole, cut, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("lora", [None, {"rank": 4, "alpha": 8}])
def test_a_step_with_a_kl_term_learns_with_and_without_an_adapter(tmp_path: Path, lora: Any) -> None:
    made = trainer(tmp_path, rows_per_step=8, loss={"beta": 0.1}, lora=lora, steps=3)
    before = weights(made).clone()
    made.train()
    after = weights(made)
    moved = (after != before).float().mean().item()
    assert torch.isfinite(after).all()
    assert moved > 0.5 if lora is None else 0 < moved < 0.5
    kl = [line["kl"] for line in made.state.log_history if "kl" in line]
    assert kl[0] == pytest.approx(0.0, abs=1e-6), "the reference is the model as it began"
    assert kl[-1] > 0


def test_a_tools_text_changes_nothing_that_is_learned_of_it(tmp_path: Path) -> None:
    """Under the mask stands NaN, and no gradient comes from it; the tokens after it do read it."""
    one = row("3?", "12", loss_mask=[1, 0], logprobs=[-1.0, float("nan")])
    other = row("3?", "19", loss_mask=[1, 0], logprobs=[-1.0, 5.0])
    assert torch.equal(taught(tmp_path / "a", [one], rows_per_step=1), taught(tmp_path / "b", [other], rows_per_step=1))


def test_advantages_per_token_reach_only_their_tokens(tmp_path: Path) -> None:
    one = row("3?", "12", token_advantages=[1.0, 0.0])
    other = row("3?", "12", loss_mask=[1, 0], advantage=0.5)
    loss = {"beta": 0.0}
    found = taught(tmp_path / "a", [one], rows_per_step=1, loss=loss)
    expected = taught(tmp_path / "b", [other], rows_per_step=1, loss=loss)
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-4)


def test_the_learning_rate_warms_up_and_falls_along_a_cosine(tmp_path: Path) -> None:
    made = trainer(tmp_path, rows_per_step=8, steps=10, learning_rate=1e-3, last_learning_rate=1e-4, warmup_steps=2)
    shares = [made._share_of_rate(step) for step in (0, 1, 2, 6, 10)]
    assert shares == pytest.approx([1 / 3, 2 / 3, 1.0, 0.55, 0.1], abs=1e-6)
