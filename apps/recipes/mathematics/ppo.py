"""Per-token advantages of PPO, over the policy's own tokens only (AlphaApollo's turn-level PPO)."""

from collections.abc import Sequence

import numpy as np

from apps.recipes.mathematics.arrays import Array, finite, token_mask, under_mask


def token_advantages(
    rewards: Sequence[float], values: Sequence[float], mask: Sequence[int], *, gamma: float = 1.0, decay: float = 0.95
) -> tuple[Array, Array]:
    """GAE(γ, λ = `decay`) of one row: advantages and returns, shape (tokens,), 0 under the mask.

    Masked tokens and their values are skipped. A reward on a masked token counts for the unmasked token before it. Raises
    `NotLearnable` for different lengths.
    """
    given = finite(rewards, "Rewards of tokens")
    allowed = token_mask(mask, given.shape)
    value = under_mask(values, allowed, "Values of tokens")
    advantages = np.zeros_like(given)
    following = gained = waiting = 0.0
    for place in range(given.size - 1, -1, -1):
        if not allowed[place]:
            waiting += given[place]
            continue
        error = given[place] + waiting + gamma * following - value[place]
        gained = error + gamma * decay * gained
        advantages[place] = gained
        following, waiting = value[place], 0.0
    return advantages, (advantages + value) * allowed
