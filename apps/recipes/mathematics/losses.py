"""Settings of clipped losses (GRPO's family) and OREAL's, and the mask of well-mastered tokens.

Shapes are (rows, tokens); the mask is 0 for tool text, environment text and padding.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from apps.recipes.mathematics.arrays import Array, per_token, token_mask, under_mask

Aggregation = Literal["token", "seq", "fixed", "sum"]


@dataclass(frozen=True)
class Clip:
    """Settings of a clipped loss. QED-Nano uses ε = 4, almost no clipping; DAPO clips to 1 − 0.2 and 1 + 0.28."""

    low: float = 0.2
    high: float = 0.2
    beta: float = 0.0
    aggregation: Aggregation = "token"
    longest: int | None = None


DAPO = Clip(low=0.2, high=0.28, beta=0.0, aggregation="token")


@dataclass(frozen=True)
class OrealFactors:
    """Factors f+, f− and β of OREAL's released configuration: cloning of positives, policy gradient on negatives, KL.

    For OREAL-H (Intern-S1-MO §4.3, Algorithm 1) a row is one round of one trajectory. Its sign is that of its *advantage*, not
    of the trajectory's reward: a negative weight on −log π would be unbounded below. Rows of advantage 0 contribute KL only.
    Advantages should be divided by `conjugate_reward.highest_reward(n)`.
    """

    positive: float = 1.0
    negative: float = 0.5
    beta: float = 0.01


def well_mastered(
    probabilities: ArrayLike, rewards: ArrayLike, mask: ArrayLike, *, entropy: float, target: float, threshold: float = 0.99
) -> Array:
    """UloRL's dynamic masking of well-mastered positive tokens, as 0 and 1: 0 silences a token.

    It silences tokens of probability ≥ `threshold` in rows of reward 1 while the entropy of the batch is below `target`. Our
    sources do not give the target, so it has no default. Masking need not raise the entropy; on a toy it did not.
    """
    shape = np.shape(probabilities)
    allowed = token_mask(mask, shape)
    mastered = under_mask(probabilities, allowed, "Probabilities") >= threshold
    positive = per_token(rewards, shape) == 1.0
    return np.where((entropy < target) & mastered & positive & (allowed > 0), 0.0, 1.0)
