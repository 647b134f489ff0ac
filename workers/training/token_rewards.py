"""OREAL's token reward model: a linear head on a copy of the actor, which tells the tokens that an answer stands or falls by.

It learns which rows are right from the mean of their tokens' logits and weighs tokens by the mean so far; both are the
functions of `workers/learning/oreal.py` in torch. Off unless a job asks for it: the released recipe has a form without it, and
it is a second model in memory (Intern-S1-MO §4.3; InternLM/OREAL).
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import binary_cross_entropy_with_logits

from workers.training.batches import Tensors
from workers.training.problems import NotANumber

#: Of the released configuration: first only this model learns, and four times as fast as the actor.
STEPS_ALONE = 10
TIMES_THE_RATE = 4.0
NAME = "token_rewards"


class TokenRewards(torch.nn.Module):
    """`actor`: the model before anything was trained; of an adapter that goes on, the model with it merged."""

    def __init__(self, actor: Any, *, rate: float, weight_decay: float) -> None:
        super().__init__()
        own = copy.deepcopy(actor)
        self.body = (own.merge_and_unload() if hasattr(own, "merge_and_unload") else own).base_model.float()
        self.body.requires_grad_(True)
        self.head = torch.nn.Linear(self.body.config.hidden_size, 1, dtype=self.body.dtype)
        torch.nn.init.zeros_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)
        self._optimizer = torch.optim.AdamW(self.parameters(), lr=rate, weight_decay=weight_decay)
        self._rate = rate

    def logits(self, batch: Tensors) -> Any:
        """Of every token of the completions, shape (N, T)."""
        ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
        mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
        hidden = self.body(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        return self.head(hidden[:, -batch["completion_ids"].shape[1] :]).squeeze(-1).float()

    @torch.no_grad()
    def weights(self, batch: Tensors, size: int) -> Any:
        """The weights of the tokens, (N, T), `size` rows at a time; by the model as it was before it saw these rows."""
        found = torch.cat([self.logits(piece) for piece in _pieces(batch, size)])
        return token_weights(found, _own(batch), batch["advantages"] > 0)

    def learn(self, batch: Tensors, size: int, *, share_of_rate: float) -> float:
        """One step on all rows; returns the loss before it. Raises `NotANumber` before such a gradient moves a weight."""
        taught = (_own(batch).sum(dim=1) > 0).sum().clamp(min=1)
        total = 0.0
        self._optimizer.zero_grad()
        for piece in _pieces(batch, size):
            loss = reward_loss(self.logits(piece), _own(piece), piece["rewards"] > 0) / taught
            loss.backward()
            total += float(loss)
        norm = torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        if not bool(torch.isfinite(norm)):
            raise NotANumber("The gradient of the token reward model is not a number; no weight was changed.")
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * share_of_rate
        self._optimizer.step()
        return total

    def save(self, folder: Path) -> None:
        """Weights and what its optimiser remembers."""
        state = {name: value.contiguous() for name, value in self.state_dict().items()}
        save_file(state, folder / f"{NAME}.safetensors")
        torch.save(self._optimizer.state_dict(), folder / f"{NAME}_optimizer.pt")

    def load(self, folder: Path) -> None:
        """As `save` left it."""
        self.load_state_dict(load_file(folder / f"{NAME}.safetensors"))
        self._optimizer.load_state_dict(torch.load(folder / f"{NAME}_optimizer.pt", weights_only=True))


def token_weights(logits: Any, own: Any, positive: Any) -> Any:
    """`workers.learning.oreal.token_weights` in torch: max(±tanh(a/2), 0), a the mean of the logits so far."""
    means = (logits * own).cumsum(dim=1) / own.cumsum(dim=1).clamp(min=1)
    sign = torch.where(positive, 1.0, -1.0)
    sign = sign.unsqueeze(-1) if sign.dim() == 1 else sign  # One for each row, or one for each token.
    return (sign * torch.tanh(means / 2)).clamp(min=0) * own


def reward_loss(logits: Any, own: Any, correct: Any) -> Any:
    """`workers.learning.oreal.reward_model_loss` in torch, but a sum over the rows that have tokens of their own."""
    means = (logits * own).sum(dim=1) / own.sum(dim=1).clamp(min=1)
    lost = binary_cross_entropy_with_logits(means, correct.float(), reduction="none")
    return (lost * (own.sum(dim=1) > 0)).sum()


def _own(batch: Tensors) -> Any:
    return batch["tool_mask"] * batch["completion_mask"]


def _pieces(batch: Tensors, size: int) -> Iterator[Tensors]:
    count = len(batch["prompt_ids"])
    for start in range(0, count, size):
        yield {name: value[start : start + size] for name, value in batch.items() if value.dim()}
