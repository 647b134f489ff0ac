"""OREAL's token reward model: a linear head on a copy of the actor, which finds the tokens that decide an answer.

It learns to predict right rows from the mean of their tokens' logits, and weights tokens by the mean so far.
`tests/learning/numpy_losses.py` has both in NumPy. It is off by default: the released recipe has a form without it, and it
needs memory for a second model (Intern-S1-MO §4.3; InternLM/OREAL).
"""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import binary_cross_entropy_with_logits

from workers.training.problems import NotANumber
from workers.training.rows.batches import Tensors
from workers.training.rows.packing import SHORT, per_token

#: From the released configuration: initial steps of this model alone, and its learning rate relative to the actor's.
STEPS_ALONE = 10
TIMES_THE_RATE = 4.0
NAME = "token_rewards"


class TokenRewards(torch.nn.Module):
    """Token reward model. `actor`: the model at the start of the job; a continued adapter is merged."""

    def __init__(self, actor: Any, *, rate: float, weight_decay: float) -> None:
        super().__init__()
        self.packs_rows = False
        own = copy.deepcopy(actor)
        self.body = (own.merge_and_unload() if hasattr(own, "merge_and_unload") else own).base_model.float()
        self.body.requires_grad_(True)
        self.head = torch.nn.Linear(self.body.config.hidden_size, 1, dtype=self.body.dtype)
        torch.nn.init.zeros_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)
        self._optimizer = torch.optim.AdamW(self.parameters(), lr=rate, weight_decay=weight_decay)
        self._rate = rate

    def logits(self, batch: Tensors) -> Any:
        """Logits of the completions' tokens, shape (N, T)."""
        ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
        mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
        length = batch["completion_ids"].shape[1]
        if self.packs_rows:
            return per_token(ids, mask, length, SHORT, self._scored).squeeze(-1)
        hidden = self.body(input_ids=ids, attention_mask=mask, use_cache=False).last_hidden_state
        return self.head(hidden[:, -length:]).squeeze(-1).float()

    def _scored(self, ids: Any, positions: Any, kept: Any) -> Any:
        hidden = self.body(input_ids=ids, position_ids=positions, use_cache=False).last_hidden_state
        return self.head(hidden[0]).float()

    @torch.no_grad()
    def weights(self, batch: Tensors, size: int) -> Any:
        """Weights of the tokens, (N, T), computed `size` rows at a time, before training on these rows."""
        found = torch.cat([self.logits(piece) for piece in _pieces(batch, size)])
        return token_weights(found, _own(batch), batch["advantages"] > 0)

    def learn(self, batch: Tensors, size: int, *, share_of_rate: float) -> float:
        """Take one step on all rows; return the loss before it. Raises `NotANumber` before changing a weight."""
        count = (_own(batch).sum(dim=1) > 0).sum().clamp(min=1)
        total = 0.0
        self._optimizer.zero_grad()
        for piece in _pieces(batch, size):
            loss = reward_loss(self.logits(piece), _own(piece), piece["rewards"] > 0) / count
            loss.backward()
            total += float(loss)
        norm = torch.nn.utils.clip_grad_norm_(self.parameters(), 1.0)
        if not bool(torch.isfinite(norm)):
            raise NotANumber("The gradient of the token reward model is not a number. No weight was changed.")
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate * share_of_rate
        self._optimizer.step()
        return total

    def save(self, folder: Path) -> None:
        """Save weights and optimiser state."""
        state = {name: value.contiguous() for name, value in self.state_dict().items()}
        save_file(state, folder / f"{NAME}.safetensors")
        torch.save(self._optimizer.state_dict(), folder / f"{NAME}_optimizer.pt")

    def load(self, folder: Path) -> None:
        """Load weights and optimiser state."""
        self.load_state_dict(load_file(folder / f"{NAME}.safetensors"))
        self._optimizer.load_state_dict(torch.load(folder / f"{NAME}_optimizer.pt", weights_only=True))


def token_weights(logits: Any, own: Any, positive: Any) -> Any:
    """Weights of tokens: max(±tanh(a/2), 0) with the mean a of the logits so far."""
    means = (logits * own).cumsum(dim=1) / own.cumsum(dim=1).clamp(min=1)
    sign = torch.where(positive, 1.0, -1.0)
    sign = sign.unsqueeze(-1) if sign.dim() == 1 else sign  # One per row, or one per token.
    return (sign * torch.tanh(means / 2)).clamp(min=0) * own


def reward_loss(logits: Any, own: Any, correct: Any) -> Any:
    """Binary cross-entropy of σ(mean logit of a row) with `correct`, as a sum over the rows with own tokens."""
    means = (logits * own).sum(dim=1) / own.sum(dim=1).clamp(min=1)
    lost = binary_cross_entropy_with_logits(means, correct.float(), reduction="none")
    return (lost * (own.sum(dim=1) > 0)).sum()


def _own(batch: Tensors) -> Any:
    return batch["tool_mask"] * batch["completion_mask"]


def _pieces(batch: Tensors, size: int) -> Iterator[Tensors]:
    count = len(batch["prompt_ids"])
    for start in range(0, count, size):
        yield {name: value[start : start + size] for name, value in batch.items() if value.dim()}
