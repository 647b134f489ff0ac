"""Losses over rows of tokens with their gradients by the log-probabilities: the clipped family of GRPO, and supervised.

Shapes are (rows, tokens); the mask is 0 for tool text, environment text and padding. A loss depends on the policy only through
the log-probabilities of the sampled tokens, so a trainer needs no further gradient.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from apps.recipes.mathematics.arrays import Array, NotLearnable, per_token, token_mask, under_mask

Aggregation = Literal["token", "seq", "fixed", "sum"]


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


@dataclass(frozen=True)
class Clip:
    """Settings of a clipped loss. QED-Nano uses ε = 4, almost no clipping; DAPO clips to 1 − 0.2 and 1 + 0.28."""

    low: float = 0.2
    high: float = 0.2
    beta: float = 0.0
    aggregation: Aggregation = "token"
    longest: int | None = None


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


def well_mastered(
    probabilities: ArrayLike, rewards: ArrayLike, mask: ArrayLike, *, entropy: float, target: float, threshold: float = 0.99
) -> Array:
    """UloRL's dynamic masking of well-mastered positive tokens, for `kept` of `clipped_loss`: 0 silences a token.

    It silences tokens of probability ≥ `threshold` in rows of reward 1 while the entropy of the batch is below `target`. Our
    sources do not give the target, so it has no default. Masking need not raise the entropy; on a toy it did not.
    """
    shape = np.shape(probabilities)
    allowed = token_mask(mask, shape)
    mastered = under_mask(probabilities, allowed, "Probabilities") >= threshold
    positive = per_token(rewards, shape) == 1.0
    return np.where((entropy < target) & mastered & positive & (allowed > 0), 0.0, 1.0)
