"""Loss of OREAL (InternLM/OREAL), used by OREAL-H (Intern-S1-MO §4.3, Algorithm 1), and its token reward model.

It consists of behaviour cloning on positives, policy gradient on negatives, and KL to a reference; the denominator of each part
is its number of action tokens. For OREAL-H a row is one round of one trajectory. Its sign is that of its *advantage*, not of
the trajectory's reward: a negative weight on −log π would be unbounded below. Rows of advantage 0 contribute KL only.
Advantages should be divided by `conjugate_reward.highest_reward(n)`. Without weights the token reward model is off.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from apps.recipes.mathematics.arrays import Array, finite, token_mask, under_mask
from apps.recipes.mathematics.losses import Loss, divergence


@dataclass(frozen=True)
class OrealFactors:
    """Factors f+, f− and β of the released configuration."""

    positive: float = 1.0
    negative: float = 0.5
    beta: float = 0.01


@dataclass(frozen=True)
class OrealLoss(Loss):
    """Loss with its three signed parts; `value` is their sum."""

    positive: float
    negative: float
    divergence: float


def oreal_loss(
    logprobs: ArrayLike,
    behaviour: ArrayLike,
    reference: ArrayLike,
    advantages: ArrayLike,
    mask: ArrayLike,
    *,
    factors: OrealFactors | None = None,
    token_weights: ArrayLike | None = None,
) -> OrealLoss:
    """f+/N+ Σ A w (−log π) − f−/N− Σ A w ρ + β/N Σ k3, over rows of positive, negative and any advantage; one A per row.

    A part without rows is 0. Raises `NotLearnable` for different shapes or unmasked numbers that are not finite.
    """
    factors = factors or OrealFactors()
    shape = np.shape(logprobs)
    allowed = token_mask(mask, shape)
    policy = under_mask(logprobs, allowed, "The policy's log-probabilities")
    ratio = np.exp(policy - under_mask(behaviour, allowed, "The behaviour's log-probabilities"))
    anchor = under_mask(reference, allowed, "The reference's log-probabilities")
    advantage = finite(advantages, "Advantages").reshape(shape[0], 1)
    weight = np.ones(shape) if token_weights is None else under_mask(token_weights, allowed, "Token weights")
    good, bad = allowed * (advantage > 0), allowed * (advantage < 0)
    cloned = factors.positive * good * advantage * weight / max(good.sum(), 1.0)
    pushed = factors.negative * bad * advantage * weight * ratio / max(bad.sum(), 1.0)
    pulled = factors.beta * allowed / max(allowed.sum(), 1.0)
    parts = float(-(cloned * policy).sum()), float(-pushed.sum()), float((pulled * divergence(policy, anchor)).sum())
    gradient = -cloned - pushed + pulled * (1.0 - np.exp(anchor - policy))
    return OrealLoss(sum(parts), gradient, *parts)


def token_weights(logits: ArrayLike, mask: ArrayLike, positive: ArrayLike) -> Array:
    """Weights of tokens from the reward model's logits, shape (rows, tokens); `positive` has one sign per row.

    With a_t the mean of the row's unmasked logits up to t: max(2σ(a_t) − 1, 0) in a positive row, max(1 − 2σ(a_t), 0) in a
    negative one, 0 under the mask. No gradient flows through them.
    """
    allowed = token_mask(mask, np.shape(logits))
    found = under_mask(logits, allowed, "Logits of the token reward model")
    means = np.cumsum(found, axis=1) / np.maximum(np.cumsum(allowed, axis=1), 1.0)
    sign = np.where(np.asarray(positive, dtype=bool), 1.0, -1.0).reshape(-1, 1)
    result: Array = np.maximum(sign * np.tanh(means / 2), 0.0) * allowed
    return result


def reward_model_loss(logits: ArrayLike, mask: ArrayLike, correct: ArrayLike) -> Loss:
    """Binary cross-entropy of σ(mean of a row's unmasked logits) with `correct`, mean over rows."""
    allowed = token_mask(mask, np.shape(logits))
    found = under_mask(logits, allowed, "Logits of the token reward model")
    share = allowed / np.maximum(allowed.sum(axis=1, keepdims=True), 1.0)
    mean = (found * share).sum(axis=1)
    truth = np.asarray(correct, dtype=bool).astype(np.float64)
    rows = max(truth.size, 1)
    value = float((np.logaddexp(0.0, mean) - truth * mean).sum() / rows)
    slope = (0.5 * (1 + np.tanh(mean / 2)) - truth) / rows
    return Loss(value, share * slope[:, None])
