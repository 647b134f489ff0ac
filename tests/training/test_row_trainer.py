"""Training on any number of rows, in any micro-batches, with a reference and with an adapter."""

from dataclasses import replace
from math import isfinite, log
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from apps.recipes.mathematics.rows import Row
from tests.training.factory import row, rows, trainer
from workers.training.measuring.drift import Drift
from workers.training.policy import Policy
from workers.training.row_trainer import RowTrainer
from workers.training.rows.batches import tensors_of


class FixedRows:
    """A source that always gives the same rows."""

    def __init__(self, given: list[Row]) -> None:
        self.given = given

    def rows(self, step: int, policy: Any) -> list[Row]:
        return self.given

    def measures(self) -> dict[str, float]:
        return {}


def weights(made: RowTrainer) -> Any:
    return torch.cat([one.detach().flatten() for one in made.model.parameters()])


def weights_after(folder: Path, given: list[Row], **changes: Any) -> Any:
    """Weights after one step on the given rows."""
    made = trainer(folder, given=given, steps=1, **changes)
    made.source = FixedRows(given)
    made.train()
    return weights(made)


@pytest.mark.parametrize("aggregation", ["token", "seq", "sum"])
def test_micro_batches_give_the_weights_of_one_batch(tmp_path: Path, aggregation: str) -> None:
    """Seven rows are not divisible, so padding rows are added; they have no effect."""
    loss = {"aggregation": aggregation, "beta": 0.0}
    whole = weights_after(tmp_path / "a", rows(7), rows_per_step=7, loss=loss)
    cut = weights_after(tmp_path / "b", rows(7), rows_per_step=8, micro_rows=2, loss=loss)
    torch.testing.assert_close(whole, cut, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("recipe", ["turn_grpo", "orealh", "turn_ppo"])
def test_the_drift_from_the_rows_policy_is_measured(tmp_path: Path, recipe: str) -> None:
    """The rows' recorded probabilities are half of the model's: all ratios are 2, so all tokens have equal weight."""
    made = trainer(tmp_path, rows_per_step=8, recipe=recipe, steps=1, micro_rows=2)
    drawn = [one for one in rows(8) if one.reward is not None]
    batch = tensors_of(drawn, pad=0)
    with torch.no_grad():
        now, _ = made.logprobs(made.model, batch)
    sizes = [len(one.completion_ids) for one in drawn]
    half = [
        replace(one, logprobs=(now[place, :size] - log(2)).tolist())
        for place, (one, size) in enumerate(zip(drawn, sizes, strict=True))
    ]
    made.source = FixedRows(half)
    made.train()
    found = made.drift.report()
    assert found["ratio_max"] == pytest.approx(2, rel=1e-3)
    assert found["ess"] == pytest.approx(1, rel=1e-3)
    assert found["kl_behaviour"] == pytest.approx(1 - log(2), rel=1e-3)
    assert made.drift.report() == {}, "each report starts at zero"


@pytest.mark.parametrize("temperature", [0.7, 1.3])
def test_rows_are_scored_at_their_sampling_temperature(tmp_path: Path, temperature: float) -> None:
    """For the model's own answers with log-probabilities of the sampled distribution, all ratios are 1."""
    plain = trainer(tmp_path, rows_per_step=8, steps=1, learning_rate=0)
    policy = Policy(plain.model, plain.processing_class, seed=3, temperature=temperature)
    drawn = []
    for one in rows(8):
        [kept] = policy.draw([one.prompt_ids], most=6)
        drawn.append(replace(one, completion_ids=kept.ids, logprobs=kept.logprobs, loss_mask=[1] * len(kept.ids)))
    found = {}
    for scored_at in (temperature, 1.0):
        made = trainer(tmp_path, rows_per_step=8, steps=1, learning_rate=0, temperature=scored_at)
        made.source = FixedRows(drawn)
        made.train()
        found[scored_at] = made.drift.report()
    assert found[temperature]["ratio_max"] == pytest.approx(1, abs=1e-4)
    assert abs(found[1.0]["ratio_max"] - 1) > 1e-3, "at another temperature they look off-policy"


def test_unequal_ratios_reduce_the_effective_sample_size() -> None:
    drift = Drift()
    drift.take(torch.tensor([[0.0, 0.0, 5.0]]), torch.tensor([[0.0, log(3), 0.0]]), torch.tensor([[1, 1, 0]]))
    found = drift.report()
    assert found["ratio_max"] == pytest.approx(1)
    assert found["ess"] == pytest.approx((4 / 3) ** 2 / (2 * (1 + 1 / 9)))
    drift.take(torch.tensor([[0.0]]), torch.tensor([[-500.0]]), torch.tensor([[1]]))
    assert isfinite(drift.report()["ratio_max"])


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
    assert kl[0] == pytest.approx(0.0, abs=1e-6), "the reference is the initial model"
    assert kl[-1] > 0


def test_a_masked_tools_text_has_no_gradient(tmp_path: Path) -> None:
    """Neither the masked token nor its log-probability, even NaN, affects the update."""
    one = row("3?", "12", loss_mask=[1, 0], logprobs=[-1.0, float("nan")])
    other = row("3?", "19", loss_mask=[1, 0], logprobs=[-1.0, 5.0])
    assert torch.equal(
        weights_after(tmp_path / "a", [one], rows_per_step=1), weights_after(tmp_path / "b", [other], rows_per_step=1)
    )


def test_advantages_per_token_affect_only_their_tokens(tmp_path: Path) -> None:
    one = row("3?", "12", token_advantages=[1.0, 0.0])
    other = row("3?", "12", loss_mask=[1, 0], advantage=0.5)
    loss = {"beta": 0.0}
    found = weights_after(tmp_path / "a", [one], rows_per_step=1, loss=loss)
    expected = weights_after(tmp_path / "b", [other], rows_per_step=1, loss=loss)
    torch.testing.assert_close(found, expected, atol=2e-5, rtol=1e-4)


def test_the_learning_rate_warms_up_and_falls_along_a_cosine(tmp_path: Path) -> None:
    made = trainer(tmp_path, rows_per_step=8, steps=10, learning_rate=1e-3, last_learning_rate=1e-4, warmup_steps=2)
    shares = [made._share_of_rate(step) for step in (0, 1, 2, 6, 10)]
    assert shares == pytest.approx([1 / 3, 2 / 3, 1.0, 0.55, 0.1], abs=1e-6)


@pytest.mark.parametrize("recipe", ["turn_grpo", "turn_sft", "orealh", "turn_ppo"])
def test_the_optimiser_takes_every_step_at_the_scheduled_rate(tmp_path: Path, recipe: str) -> None:
    """The rate is read from the optimiser when it changes the weights."""
    made = trainer(tmp_path, recipe, rows_per_step=8, steps=6, learning_rate=1e-3, last_learning_rate=1e-4, warmup_steps=2)
    taken: list[float] = []
    watch = register_optimizer_step_pre_hook(lambda optimiser, *_: taken.append(optimiser.param_groups[0]["lr"]))
    try:
        made.train()
    finally:
        watch.remove()
    assert taken == pytest.approx([1e-3 * made._share_of_rate(step) for step in range(6)])
    assert taken[0] < taken[2] > taken[5]


@pytest.mark.parametrize("recipe", ["turn_grpo", "orealh", "turn_ppo"])
def test_ratios_can_be_relative_to_the_model_at_the_start_of_a_step(tmp_path: Path, recipe: str) -> None:
    """The rows' recorded probabilities are half of the model's. With `recompute` nothing is clipped, and the update equals that
    of rows sampled from the model; the drift from the rows' policy is still reported."""
    more: dict[str, Any] = {"recipe": recipe, "rows_per_step": 8, "micro_rows": 2}
    made = trainer(tmp_path / "first", **more)
    batch = tensors_of(rows(8), pad=0)
    with torch.no_grad():
        now, _ = made.logprobs(made.model, batch)

    def drawn(shift: float) -> list[Row]:
        own = zip(rows(8), (now + shift).tolist(), strict=True)
        return [replace(one, logprobs=scores[: len(one.completion_ids)]) for one, scores in own]

    fresh = weights_after(tmp_path / "fresh", drawn(0.0), **more)
    stale = weights_after(tmp_path / "stale", drawn(-log(2)), **more)
    recomputed = trainer(tmp_path / "recomputed", given=drawn(-log(2)), steps=1, loss={"old": "recompute"}, **more)
    recomputed.source = FixedRows(drawn(-log(2)))
    recomputed.train()
    torch.testing.assert_close(weights(recomputed), fresh, atol=1e-6, rtol=1e-5)
    assert not torch.allclose(stale, fresh, atol=1e-6, rtol=1e-5)
    assert recomputed.drift.report()["ratio_max"] == pytest.approx(2, rel=1e-3)
