"""Our advantage estimators for verl 0.9, on its tensors; `verl_plugin` registers them.

verl passes `token_level_rewards` and `response_mask`, (rows, tokens), and each row's group in `index`. It expects advantages
and returns of that shape. Groups are compared by `recipes.mathematics.advantages`; a silent group has advantage 0, including a
group of one, to which verl's own `grpo` gives the raw reward.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from apps.recipes.mathematics.advantages import centred, grpo, leave_one_out
from apps.recipes.mathematics.arrays import Array, NotLearnable

Estimated = tuple[torch.Tensor, torch.Tensor]
#: Estimators by their name in verl's `algorithm.adv_estimator`.
GROUPED: dict[str, Callable[[Sequence[float]], Array]] = {
    "lemmascope_grpo": grpo,
    "lemmascope_centred": centred,
    "lemmascope_rloo": leave_one_out,
}


def of_rows(token_level_rewards: torch.Tensor, response_mask: torch.Tensor, **_: Any) -> Estimated:
    """Use a row's reward *as* its advantage, computed by a recipe: the same for all its own tokens."""
    return _spread(_totals(token_level_rewards, response_mask), response_mask)


def of_tokens(token_level_rewards: torch.Tensor, response_mask: torch.Tensor, **_: Any) -> Estimated:
    """Use the rewards of tokens *as* their advantages, and 0 under the mask."""
    _totals(token_level_rewards, response_mask)
    found = torch.where(response_mask > 0, token_level_rewards.detach(), 0.0)
    return found, found


def of_groups(compare: Callable[[Sequence[float]], Array]) -> Callable[..., Estimated]:
    """Estimator that compares the rows of each group by their rewards."""

    def estimate(token_level_rewards: torch.Tensor, response_mask: torch.Tensor, index: Any = None, **_: Any) -> Estimated:
        if index is None or len(index) != len(response_mask):
            raise NotLearnable("Every row needs its group: verl's “uid”, one per row.")
        totals = _totals(token_level_rewards, response_mask)
        groups: dict[Any, list[int]] = {}
        for place, name in enumerate(index):
            groups.setdefault(name, []).append(place)
        found = torch.zeros_like(totals)
        for places in groups.values():
            found[places] = torch.as_tensor(compare(totals[places].tolist()), dtype=found.dtype, device=found.device)
        return _spread(found, response_mask)

    return estimate


def _totals(rewards: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Total reward of each row. verl puts it at the last token, which may be a tool's.

    Raises `NotLearnable` for a reward that is not finite.
    """
    if rewards.shape != mask.shape:
        raise NotLearnable(f"Rewards have shape {tuple(rewards.shape)}, but the mask has {tuple(mask.shape)}.")
    bad = (~torch.isfinite(rewards)).any(dim=-1).nonzero()
    if len(bad):
        raise NotLearnable(f"Row {int(bad[0])} has a reward that is not a finite number.")
    return rewards.detach().sum(dim=-1)


def _spread(advantages: torch.Tensor, mask: torch.Tensor) -> Estimated:
    found = advantages.unsqueeze(-1) * (mask > 0)
    return found, found
