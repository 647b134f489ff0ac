"""Tensors from rows, in the format of TRL's GRPOTrainer: prompts padded on the left, completions on the right."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from apps.recipes.mathematics.losses import well_mastered
from apps.recipes.mathematics.rows import Row

Tensors = dict[str, Any]


def tensors_of(rows: Sequence[Row], *, pad: int, device: Any = "cpu") -> Tensors:
    """One batch of rows: N rows, longest prompt P, longest completion T.

    `prompt_ids`, `prompt_mask` (N, P); `completion_ids`, `completion_mask`, `tool_mask` (N, T); `advantages` (N,), or (N, T)
    where any row has advantages per token; `rewards` (N,) where every row has one; `old_per_token_logps` (N, T) where every row
    has log-probabilities. Values under the mask, even NaN, become 0, so that they reach neither loss nor gradient.
    """
    longest = max(len(row.prompt_ids) for row in rows), max(len(row.completion_ids) for row in rows)
    own = _right([row.loss_mask for row in rows], longest[1], 0, torch.long)
    found: Tensors = {
        "prompt_ids": _left([row.prompt_ids for row in rows], longest[0], pad),
        "prompt_mask": _left([[1] * len(row.prompt_ids) for row in rows], longest[0], 0),
        "completion_ids": _right([row.completion_ids for row in rows], longest[1], pad, torch.long),
        "completion_mask": _right([[1] * len(row.completion_ids) for row in rows], longest[1], 0, torch.long),
        "tool_mask": own,
        "advantages": _advantages(rows, longest[1], own),
    }
    if all(row.reward is not None for row in rows):
        found["rewards"] = torch.tensor([row.reward for row in rows], dtype=torch.float32)
    if all(row.logprobs is not None for row in rows):
        logprobs = _right([row.logprobs or () for row in rows], longest[1], 0.0, torch.float32)
        found["old_per_token_logps"] = torch.where(own > 0, logprobs, 0.0)
    return {name: tensor.to(device) for name, tensor in found.items()}


def silence_mastered(batch: Tensors, target: float) -> float:
    """Apply UloRL's dynamic masking to a batch; return the share of silenced tokens.

    If the behaviour's entropy, estimated from the sampled tokens, is below `target`, its most probable tokens in rows of reward
    1 get advantage 0. Denominators do not change.
    """
    own = batch["tool_mask"] * batch["completion_mask"]
    logprobs, mask = batch["old_per_token_logps"].cpu().numpy(), own.cpu().numpy()
    entropy = float(-(logprobs * mask).sum() / max(mask.sum(), 1))
    kept = well_mastered(np.exp(logprobs), batch["rewards"].cpu().numpy(), mask, entropy=entropy, target=target)
    advantages = batch["advantages"]
    spread = advantages[:, None].expand(own.shape) if advantages.dim() == 1 else advantages
    batch["advantages"] = spread * torch.tensor(kept, dtype=spread.dtype, device=spread.device)
    return float(1 - kept[mask > 0].mean()) if mask.any() else 0.0


def silent_rows(batch: Tensors, count: int) -> Tensors:
    """Batch padded with `count` fully masked rows of one token, to make its size divisible."""
    if not count:
        return batch
    more = {name: tensor[:1].expand(count, *tensor.shape[1:]) for name, tensor in batch.items() if tensor.dim()}
    more |= {name: torch.zeros_like(more[name]) for name in ("tool_mask", "advantages", "prompt_mask", "completion_mask")}
    more["completion_mask"][:, 0] = 1
    return {name: torch.cat([tensor, more[name]]) if tensor.dim() else tensor for name, tensor in batch.items()}


def lengths_of(batch: Tensors) -> list[int]:
    """Tokens of each row, prompt and completion."""
    found: list[int] = (batch["prompt_mask"].sum(dim=1) + batch["completion_mask"].sum(dim=1)).tolist()
    return found


def _advantages(rows: Sequence[Row], longest: int, own: Any) -> Any:
    if all(row.token_advantages is None for row in rows):
        return torch.tensor([row.advantage or 0.0 for row in rows], dtype=torch.float32)
    spread = [
        row.token_advantages if row.token_advantages is not None else [row.advantage or 0.0] * len(row.completion_ids)
        for row in rows
    ]
    return torch.where(own > 0, _right(spread, longest, 0.0, torch.float32), 0.0)


def _left(values: Sequence[Sequence[int]], longest: int, fill: int) -> Any:
    return torch.tensor([[fill] * (longest - len(one)) + list(one) for one in values], dtype=torch.long)


def _right(values: Sequence[Sequence[float]], longest: int, fill: float, kind: Any) -> Any:
    return torch.tensor([list(one) + [fill] * (longest - len(one)) for one in values], dtype=kind)
