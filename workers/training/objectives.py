"""What is minimised beside TRL's clipped losses: supervised learning of masked rows, and OREAL's loss.

Both are the functions of `workers/learning/` (`supervised_loss`, `oreal_loss`) in torch; tests compare values and gradients.
"""

from typing import Any

import torch

from workers.training.batches import Tensors
from workers.training.row_trainer import RowTrainer


class SupervisedTrainer(RowTrainer):
    """−log π over the rows' own tokens, a mean over all of them in the step."""

    def _compute_loss(self, model: Any, inputs: Tensors) -> Any:
        logprobs, entropies = self.logprobs(model, inputs, entropy=True)
        own = inputs["tool_mask"] * inputs["completion_mask"]
        self._note("entropy", (entropies * own).sum() / own.sum().clamp(min=1))
        share = inputs["num_items_in_batch"] / self.accelerator.num_processes
        return -(logprobs * own).sum() / share

    def _note(self, name: str, value: Any) -> None:
        self._metrics["train"][name].append(self.accelerator.gather(value.detach()).float().mean().item())


class OrealTrainer(SupervisedTrainer):
    """Behaviour cloning of rows with a positive advantage, policy gradient on negative ones, KL on all."""

    def prepare(self, batch: Tensors) -> None:
        """Each part is divided by its own number of tokens in the whole step, over all devices."""
        own = batch["tool_mask"] * batch["completion_mask"]
        sign = batch["advantages"].sign().unsqueeze(-1)
        for name, part in (("positive", own * (sign > 0)), ("negative", own * (sign < 0))):
            batch[f"{name}_tokens"] = self.accelerator.reduce(part.sum(), reduction="sum").clamp(min=1)

    def _compute_loss(self, model: Any, inputs: Tensors) -> Any:
        logprobs, entropies = self.logprobs(model, inputs, entropy=True)
        self.note_drift(inputs)
        own = inputs["tool_mask"] * inputs["completion_mask"]
        advantage = inputs["advantages"].unsqueeze(-1)
        ratio = torch.exp(logprobs - inputs["old_per_token_logps"])
        cloned = -(own * (advantage > 0) * advantage * logprobs).sum() / inputs["positive_tokens"]
        pushed = -(own * (advantage < 0) * advantage * ratio).sum() / inputs["negative_tokens"]
        loss = self.job.loss.positive * cloned + self.job.loss.negative * pushed
        if self.beta:
            gap = inputs["ref_per_token_logps"] - logprobs
            pulled = (own * (torch.exp(gap) - gap - 1)).sum() / inputs["num_items_in_batch"]
            self._note("kl", pulled * inputs["num_items_in_batch"] / own.sum().clamp(min=1))
            loss = loss + self.beta * pulled
        self._note("entropy", (entropies * own).sum() / own.sum().clamp(min=1))
        return loss * self.accelerator.num_processes
