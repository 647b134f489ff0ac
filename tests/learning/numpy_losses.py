"""The losses of the trainers in NumPy, with their gradients: an oracle for those in torch.

Shapes are (rows, tokens); the mask is 0 for tool text, environment text and padding. A loss depends on the policy only through
the log-probabilities of the sampled tokens, so a trainer needs no further gradient.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from apps.recipes.mathematics.arrays import Array, NotLearnable, finite, per_token, token_mask, under_mask
from apps.recipes.mathematics.losses import Aggregation, Clip, OrealFactors


@dataclass(frozen=True)
class Loss:
    """A loss and its gradient by the policy's log-probabilities, shape (rows, tokens)."""

    value: float
    gradient: Array


def divergence(policy: Array, reference: Array) -> Array:
    """Estimate k3 ≥ 0 of KL(policy ‖ reference) per token: exp(b−a) − (b−a) − 1, with a = policy and b = reference log-prob."""
    gap = reference - policy
    result: Array = np.exp(gap) - gap - 1.0
    return result


def weights(mask: Array, aggregation: Aggregation, longest: int | None = None) -> Array:
    """Weights of the tokens' losses in the total loss, shape (rows, tokens).

    `token`: mean over all unmasked tokens (DAPO, verl, AlphaApollo's code). `seq`: mean over rows of each row's mean (GRPO).
    `fixed`: sum divided by rows × `longest` (Dr. GRPO). `sum`: sum divided by rows (PipelineRL, QED-Nano). Raises
    `NotLearnable` for `fixed` without a positive `longest`, or without rows.
    """
    rows = mask.shape[0]
    if not rows:
        raise NotLearnable("A loss needs at least one row.")
    divisor: Array | float
    if aggregation == "token":
        divisor = max(float(mask.sum()), 1.0)
    elif aggregation == "seq":
        divisor = np.maximum(mask.sum(axis=1, keepdims=True), 1.0) * rows
    elif aggregation == "sum":
        divisor = rows
    elif longest is None or longest < 1:
        raise NotLearnable("The aggregation 'fixed' needs the maximum length of a completion, in tokens.")
    else:
        divisor = rows * longest
    result: Array = mask / divisor
    return result


def clipped_loss(
    logprobs: ArrayLike,
    behaviour: ArrayLike,
    advantages: ArrayLike,
    mask: ArrayLike,
    clip: Clip | None = None,
    *,
    reference: ArrayLike | None = None,
    kept: ArrayLike | None = None,
) -> Loss:
    """−min(ρA, clip(ρ, 1−ε_low, 1+ε_high) A) + β k3 per token, aggregated; ρ = exp(logprobs − behaviour).

    `advantages` has one number per row or per token. `kept` (dynamic masking) silences tokens without changing the
    denominator. Raises `NotLearnable` for different shapes, unmasked numbers that are not finite, or β > 0 without a reference.
    """
    clip = clip or Clip()
    shape = np.shape(logprobs)
    allowed = token_mask(mask, shape)
    policy = under_mask(logprobs, allowed, "The policy's log-probabilities")
    sampled = under_mask(behaviour, allowed, "The behaviour's log-probabilities")
    scale = weights(allowed, clip.aggregation, clip.longest)
    scale = scale if kept is None else scale * token_mask(kept, shape)
    advantage = per_token(advantages, shape)
    ratio = np.exp(policy - sampled)
    free, held = ratio * advantage, np.clip(ratio, 1 - clip.low, 1 + clip.high) * advantage
    losses = -np.minimum(free, held)
    slopes = np.where(free <= held, -free, 0.0)
    if clip.beta:
        if reference is None:
            raise NotLearnable("A KL term (beta > 0) needs the reference's log-probabilities.")
        anchor = under_mask(reference, allowed, "The reference's log-probabilities")
        losses = losses + clip.beta * divergence(policy, anchor)
        slopes = slopes + clip.beta * (1.0 - np.exp(anchor - policy))
    return Loss(float((scale * losses).sum()), scale * slopes)


def supervised_loss(logprobs: ArrayLike, mask: ArrayLike, aggregation: Aggregation = "token") -> Loss:
    """Supervised loss: −log π over the unmasked tokens (the policy's own, never the prompt or a tool's text)."""
    allowed = token_mask(mask, np.shape(logprobs))
    policy = under_mask(logprobs, allowed, "The policy's log-probabilities")
    scale = weights(allowed, aggregation)
    return Loss(float(-(scale * policy).sum()), -scale)


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
