"""Advantages of a group of rewards: RLOO, GRPO, Dr. GRPO, turn-level rows, and DAPO's choice of groups and overlong penalty.

A group shares one prompt. A group of one, or with equal rewards, is silent: its advantages are exactly 0 (verl gives the raw
score to a group of one).
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from apps.recipes.mathematics.arrays import Array, NothingToLearn, NotLearnable, group_rewards

Baseline = Literal["trajectory", "rows"]
VERL_EPSILON = 1e-6
#: Penalty of a turn with an unreadable action in AlphaApollo's code.
INVALID_ACTION = 0.1


def leave_one_out(rewards: Sequence[float]) -> Array:
    """RLOO, as in OREAL: each reward minus the mean of the others, shape (G,)."""
    found = group_rewards(rewards)
    if _silent(found):
        return np.zeros_like(found)
    size = found.size
    result: Array = (found - found.mean()) * size / (size - 1)
    return result


def grpo(rewards: Sequence[float], *, epsilon: float = VERL_EPSILON) -> Array:
    """GRPO: (r − mean) / (std + epsilon) with the sample deviation (n − 1), shape (G,). TRL adds 1e-4, verl 1e-6."""
    found = group_rewards(rewards)
    return _scaled(found, found, epsilon)


def centred(rewards: Sequence[float]) -> Array:
    """Dr. GRPO and QED-Nano (§4.1): r − mean, not divided by the deviation, shape (G,)."""
    found = group_rewards(rewards)
    return np.zeros_like(found) if _silent(found) else found - found.mean()


def episode_turn_rewards(
    episodes: Sequence[float], invalid: Sequence[Sequence[bool]], *, penalty: float = INVALID_ACTION
) -> list[list[float]]:
    """Rewards of turns in AlphaApollo's code: that of the episode, minus the penalty for an invalid action.

    `invalid[i][k]` is for turn k of trajectory i. The paper's text instead grades the answer proposed in each turn.
    """
    return [[reward - penalty * wrong for wrong in turns] for reward, turns in zip(episodes, invalid, strict=True)]


def turn_advantages(
    turns: Sequence[Sequence[float]],
    episodes: Sequence[float],
    *,
    baseline: Baseline = "trajectory",
    epsilon: float = VERL_EPSILON,
) -> list[Array]:
    """Turn-level GRPO (AlphaApollo §2.2): one row per turn, (r − mean) / (std + epsilon); one array per trajectory.

    `baseline="trajectory"` uses mean and deviation over the trajectories' rewards, as in the paper; `"rows"` over all turns, as
    in its code, where a long trajectory counts more. Raises `NotLearnable` where the two lists differ in length.
    """
    if len(turns) != len(episodes):
        raise NotLearnable(f"{len(turns)} trajectories of turns, but {len(episodes)} episode rewards.")
    rows = [group_rewards(rewards) for rewards in turns]
    reference = group_rewards(episodes) if baseline == "trajectory" else np.concatenate(rows)
    return [_scaled(found, reference, epsilon) for found in rows]


def _scaled(rewards: Array, reference: Array, epsilon: float) -> Array:
    if _silent(reference):
        return np.zeros_like(rewards)
    result: Array = (rewards - reference.mean()) / (reference.std(ddof=1) + epsilon)
    return result


def _silent(rewards: Array) -> bool:
    return rewards.size < 2 or bool(np.ptp(rewards) == 0)


def teaches(rewards: Sequence[float]) -> bool:
    """Whether the group's rewards differ. DAPO and OREAL-H keep only such groups (pass rate neither 0 nor 1)."""
    return not _silent(group_rewards(rewards))


def learnable_groups(groups: Sequence[Sequence[float]]) -> list[int]:
    """Indices of the groups whose rewards differ.

    Raises `NothingToLearn` where there is none, with the reason: no group, groups of one only, or equal rewards in each group.
    """
    kept = [index for index, rewards in enumerate(groups) if teaches(rewards)]
    if kept:
        return kept
    if not groups:
        raise NothingToLearn("There are no groups of rewards to learn from.")
    if all(len(rewards) == 1 for rewards in groups):
        raise NothingToLearn("Every group has a single answer; an advantage needs several answers to one prompt.")
    if max(max(rewards) for rewards in groups) <= 0:
        raise NothingToLearn("No answer has a positive reward: the model solves none of these problems.")
    raise NothingToLearn("All rewards are equal within every group, so no answer is better than another.")


def overlong_penalty(length: int, *, limit: int, margin: int) -> float:
    """DAPO's soft overlong penalty, lengths in tokens: 0 up to limit − margin, falling to −1 at the limit, −1 beyond."""
    if not 0 < margin <= limit:
        raise NotLearnable(f"The margin of {margin} tokens must be positive and at most the limit of {limit}.")
    free = limit - margin
    return max(-1.0, min(0.0, (free - length) / margin))
