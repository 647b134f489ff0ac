"""A step computes rows and almost no padding, and has the losses and gradients that padded rows have."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, MambaConfig, MambaForCausalLM

from tests.training.factory import end_of, job, row, rows, trainer
from workers.training.row_trainer import RowTrainer
from workers.training.rows.batches import lengths_of, tensors_of
from workers.training.rows.packing import balanced, by_length, may_pack, packs


def _of_lengths(count: int = 12) -> list[Any]:
    return [row("4?" * (1 + number % 3), "12:34=56"[: 1 + number * 5 % 8], reward=number % 2.0) for number in range(count)]


def _gradients(found: RowTrainer) -> tuple[list[float], dict[str, Any]]:
    """Losses of the micro-batches of one step, and the gradients of all weights after it."""
    losses = []
    model = found.model
    model.train()
    for _ in range(found.args.steps_per_generation):
        inputs = found._prepare_inputs([])
        found._step += 1
        found.current_gradient_accumulation_steps = found.args.gradient_accumulation_steps
        loss = found._compute_loss(model, inputs)
        loss.backward()
        losses.append(float(loss))
    return losses, {name: one.grad.clone() for name, one in model.named_parameters() if one.grad is not None}


@pytest.mark.parametrize("recipe", ["turn_grpo", "grpo_rubric", "marsrl", "orealh", "sft_proofs", "turn_ppo"])
def test_packed_rows_have_the_losses_and_gradients_of_padded_ones(tmp_path: Path, recipe: str) -> None:
    found = {}
    for packing in (True, False):
        made = trainer(tmp_path, recipe, _of_lengths(), packing=packing, rows_per_step=12, micro_rows=4)
        assert made.packs_rows is packing
        found[packing] = _gradients(made)
    assert sum(found[True][0]) == pytest.approx(sum(found[False][0]), abs=1e-5)
    assert found[True][1].keys() == found[False][1].keys()
    for name, gradient in found[True][1].items():
        assert torch.allclose(gradient, found[False][1][name], atol=1e-5), name


def test_packed_log_probabilities_are_those_of_each_row_alone(tmp_path: Path) -> None:
    made = trainer(tmp_path, given=rows(8), rows_per_step=8)
    together = tensors_of(rows(8), pad=made.processing_class.pad_token_id)
    packed, entropies = made.logprobs(made.model, together, entropy=True)
    own = together["completion_mask"] > 0
    for number, one in enumerate(rows(8)):
        alone = made.logprobs(made.model, tensors_of([one], pad=made.processing_class.pad_token_id))[0][0]
        assert torch.allclose(packed[number][own[number]], alone, atol=1e-5)
    assert not packed[~own].any()
    assert (entropies[own] > 0).all()


def test_a_model_that_carries_state_from_row_to_row_is_not_packed(tmp_path: Path) -> None:
    torch.manual_seed(0)
    attentive = LlamaForCausalLM(LlamaConfig(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2))
    recurrent = MambaForCausalLM(MambaConfig(hidden_size=16, num_hidden_layers=1, vocab_size=64, state_size=4))
    assert may_pack(attentive)
    assert not may_pack(recurrent)


@pytest.mark.parametrize("attention", ["flash_attention_2", "flex_attention"])
def test_attention_that_needs_a_gpu_is_refused_without_one(tmp_path: Path, attention: str) -> None:
    made = job(tmp_path, attention=attention)
    assert f"“attention” is {attention}, which needs CUDA" in end_of(made)["message"]


def test_a_step_of_long_tails_computes_almost_only_rows(tmp_path: Path) -> None:
    """Lengths as MarsRL's: lognormal with a cap. Padding to the longest row of a step left 23 to 27 % useful."""
    drawn = np.minimum(np.random.default_rng(0).lognormal(4.0, 1.0, 64), 600).astype(int)
    given = [row("4?", "1" * max(1, int(length))) for length in drawn]
    longest = max(len(one.prompt_ids) + len(one.completion_ids) for one in given)
    padded = sum(len(one.prompt_ids) + len(one.completion_ids) for one in given) / (64 * longest)
    useful = {}
    for packing in (True, False):
        made = trainer(tmp_path, given=given, packing=packing, rows_per_step=64, micro_rows=4)
        for _ in range(made.args.steps_per_generation):
            made.logprobs(made.model, made._prepare_inputs([]))
            made._step += 1
        useful[packing] = made.useful()
    assert padded < 0.3
    assert useful[True] == 1.0
    assert useful[False] >= 0.85


def test_micro_batches_have_equal_rows_and_similar_numbers_of_tokens() -> None:
    lengths = [2 ** (place % 9) + place for place in range(24)]
    order = balanced(lengths, 6)
    assert sorted(order) == list(range(24))
    sums = [sum(lengths[one] for one in order[start : start + 4]) for start in range(0, 24, 4)]
    assert max(sums) <= max(lengths) + sum(lengths) / 6
    assert [lengths[one] for one in by_length(lengths)] == sorted(lengths)


def test_a_pack_holds_whole_rows_up_to_its_size_and_a_longer_row_is_alone() -> None:
    lengths = [5, 9, 3, 20, 1, 9]
    found = packs(lengths, 10)
    assert sorted(one for pack in found for one in pack) == list(range(6))
    assert [3] in found
    assert all(sum(lengths[one] for one in pack) <= 10 or pack == [3] for pack in found)


def test_rows_that_fill_up_a_step_have_one_token(tmp_path: Path) -> None:
    made = trainer(tmp_path, given=_of_lengths(6), rows_per_step=6, micro_rows=2)
    made.source = SimpleNamespace(rows=lambda step, policy: _of_lengths(5), measures=dict)
    batch = made._generate_and_score_completions([])
    assert sorted(lengths_of(batch))[0] == 1
    assert int((batch["tool_mask"].sum(dim=1) == 0).sum()) == 1
