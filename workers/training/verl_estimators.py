"""Our advantages for verl 0.9, as functions of its tensors; `verl_plugin` registers them where verl is.

verl hands an estimator `token_level_rewards` and `response_mask`, (rows, tokens), and in `index` what each row's group is. It
takes advantages and returns of that shape. Where groups are compared, the mathematics is `workers.learning.advantages`; a group
that teaches nothing has advantage 0, also a group of one, to which verl's own `grpo` gives the raw reward.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from workers.learning.advantages import centred, grpo, leave_one_out
from workers.learning.arrays import Array, NotLearnable

Estimated = tuple[torch.Tensor, torch.Tensor]
#: By the name in verl's `algorithm.adv_estimator`.
GROUPED: dict[str, Callable[[Sequence[float]], Array]] = {
    "lemmascope_grpo": grpo,
    "lemmascope_centred": centred,
    "lemmascope_rloo": leave_one_out,
}


def of_rows(token_level_rewards: torch.Tensor, response_mask: torch.Tensor, **_: Any) -> Estimated:
    """The reward of a row *is* its advantage, computed before by a recipe: the same for all of its own tokens."""
    return _spread(_totals(token_level_rewards, response_mask), response_mask)


def of_tokens(token_level_rewards: torch.Tensor, response_mask: torch.Tensor, **_: Any) -> Estimated:
    """The rewards of tokens *are* their advantages; nothing under the mask remains."""
    _totals(token_level_rewards, response_mask)
    found = torch.where(response_mask > 0, token_level_rewards.detach(), 0.0)
    return found, found


def of_groups(compare: Callable[[Sequence[float]], Array]) -> Callable[..., Estimated]:
    """An estimator that compares the rows of each group by their rewards."""

    def estimate(token_level_rewards: torch.Tensor, response_mask: torch.Tensor, index: Any = None, **_: Any) -> Estimated:
        if index is None or len(index) != len(response_mask):
            raise NotLearnable("Every row needs its group: verl's “uid”, one a row.")
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
    """The reward of each row: its sum, wherever it stands; verl puts it at the last token, which may be a tool's.

    Raises `NotLearnable` for one that is no number.
    """
    if rewards.shape != mask.shape:
        raise NotLearnable(f"Rewards have shape {tuple(rewards.shape)}, the mask has {tuple(mask.shape)}.")
    bad = (~torch.isfinite(rewards)).any(dim=-1).nonzero()
    if len(bad):
        raise NotLearnable(f"Row {int(bad[0])} has a reward that is no finite number.")
    return rewards.detach().sum(dim=-1)


def _spread(advantages: torch.Tensor, mask: torch.Tensor) -> Estimated:
    found = advantages.unsqueeze(-1) * (mask > 0)
    return found, found
