"""Objectives in addition to TRL's clipped losses: supervised learning of masked rows, and OREAL's loss.

Tests compare values and gradients with `supervised_loss` and `oreal_loss` of `tests/learning/numpy_losses.py`.
"""

from math import inf
from pathlib import Path
from typing import Any

import torch

from workers.training.config import JobConfig
from workers.training.losses.token_rewards import STEPS_ALONE, TIMES_THE_RATE, TokenRewards
from workers.training.problems import BadConfig
from workers.training.row_trainer import RowTrainer
from workers.training.rows.batches import Tensors


class SupervisedTrainer(RowTrainer):
    """−log π over the rows' own tokens, as a mean over all own tokens of the step."""

    def _compute_loss(self, model: Any, inputs: Tensors) -> Any:
        logprobs, entropies = self.logprobs(model, inputs, entropy=True)
        own = inputs["tool_mask"] * inputs["completion_mask"]
        self._note("entropy", (entropies * own).sum() / own.sum().clamp(min=1))
        share = inputs["num_items_in_batch"] / self.accelerator.num_processes
        return -(logprobs * own).sum() / share

    def _note(self, name: str, value: Any) -> None:
        self._metrics["train"][name].append(self.accelerator.gather(value.detach()).float().mean().item())


class OrealTrainer(SupervisedTrainer):
    """Behaviour cloning of rows with a positive advantage, policy gradient on negative ones, KL on all.

    With `loss.token_rm` the token reward model weights the tokens; during the first steps only this model learns.
    """

    def __init__(self, model: Any, source: Any, config: JobConfig, *others: Any, **more: Any) -> None:
        rate = TIMES_THE_RATE * config.learning_rate
        rewards = TokenRewards(model, rate=rate, weight_decay=config.weight_decay) if config.loss.token_rm else None
        super().__init__(model, source, config, *others, **more)
        self.token_rewards = rewards.to(self.accelerator.device) if rewards is not None else None
        if rewards is not None:
            rewards.packs_rows = self.packs_rows
        if rewards is not None and self.accelerator.num_processes > 1:
            raise BadConfig("“loss.token_rm” works in one process only. Remove it on several devices.")

    def _share_of_rate(self, step: int) -> float:
        return 0.0 if self.token_rewards is not None and step < STEPS_ALONE else super()._share_of_rate(step)

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        super()._save(output_dir, state_dict)
        if self.token_rewards is not None:
            self.token_rewards.save(Path(output_dir or self.args.output_dir))

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        super()._load_from_checkpoint(resume_from_checkpoint, model)
        if self.token_rewards is not None:
            self.token_rewards.load(Path(resume_from_checkpoint))

    def _weigh_tokens(self, batch: Tensors) -> None:
        """Add `weights` (N, T), all 0 while the reward model learns alone, and train it on this step's rows."""
        assert self.token_rewards is not None
        step = self.state.global_step
        weights = self.token_rewards.weights(batch, self.job.micro)
        batch["weights"] = weights if step >= STEPS_ALONE else torch.zeros_like(weights)
        lost = self.token_rewards.learn(batch, self.job.micro, share_of_rate=super()._share_of_rate(step))
        self._metrics["train"]["token_rm_loss"].append(lost)

    def prepare(self, batch: Tensors) -> None:
        """Count the tokens of each part over the whole step and all devices, as its denominator."""
        own = batch["tool_mask"] * batch["completion_mask"]
        sign = _by_token(batch["advantages"]).sign()
        for name, part in (("positive", own * (sign > 0)), ("negative", own * (sign < 0))):
            batch[f"{name}_tokens"] = self.accelerator.reduce(part.sum(), reduction="sum").clamp(min=1)
        if self.token_rewards is not None:
            self._weigh_tokens(batch)

    def _compute_loss(self, model: Any, inputs: Tensors) -> Any:
        logprobs, entropies = self.logprobs(model, inputs, entropy=True)
        self.note_drift(inputs)
        own = inputs["tool_mask"] * inputs["completion_mask"]
        advantage = _by_token(inputs["advantages"])
        ratio = torch.exp(logprobs - inputs["old_per_token_logps"]).clamp(max=self.job.loss.ratio_cap or inf)
        weighed = own * inputs.get("weights", 1.0)
        cloned = -(weighed * (advantage > 0) * advantage * logprobs).sum() / inputs["positive_tokens"]
        if self.off_policy_mask_threshold is not None:
            weighed = weighed * self.kept_rows(logprobs, inputs)
        pushed = -(weighed * (advantage < 0) * advantage * ratio).sum() / inputs["negative_tokens"]
        loss = self.job.loss.positive * cloned + self.job.loss.negative * pushed
        if self.beta:
            gap = inputs["ref_per_token_logps"] - logprobs
            pulled = (own * (torch.exp(gap) - gap - 1)).sum() / inputs["num_items_in_batch"]
            self._note("kl", pulled * inputs["num_items_in_batch"] / own.sum().clamp(min=1))
            loss = loss + self.beta * pulled
        self._note("entropy", (entropies * own).sum() / own.sum().clamp(min=1))
        return loss * self.accelerator.num_processes


def _by_token(advantages: Any) -> Any:
    """Advantages per row with shape (N, 1), or per token with shape (N, T)."""
    return advantages.unsqueeze(-1) if advantages.dim() == 1 else advantages
