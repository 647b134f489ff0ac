"""AlphaApollo's turn-level rows with PPO: a value head instead of a group's mean.

The reward of a turn is given at its last own token. The trainer computes advantages per token with its value head (GAE over the
policy's own tokens, `apps/recipes/mathematics/ppo.py`). It needs no groups, so a single trajectory is enough.
"""

from collections.abc import Sequence
from dataclasses import replace

from apps.recipes import turn_grpo
from apps.recipes.mathematics.arrays import finite
from apps.recipes.mathematics.losses import Clip
from apps.recipes.mathematics.rows import Row
from apps.recipes.options import PENALTY, SCOPE, UNREAD
from apps.recipes.trajectory import Trajectory, Unread, by_problem, row_of, without_unread
from apps.recipes.turn_grpo import Scope, turn_rewards

TRAINING = replace(
    turn_grpo.TRAINING,
    name="turn_ppo",
    title="PPO over turns",
    objective="clipped_with_values",
    loss=Clip(beta=0.0, aggregation="token"),
    options=(SCOPE, PENALTY, UNREAD),
)


def rows(
    trajectories: Sequence[Trajectory], *, scope: Scope = "episode", penalty: float = 0.1, unread: Unread = "zero"
) -> list[Row]:
    """One row per turn with its reward. Raises `NotLearnable` without a trajectory, or for a reward that is not finite."""
    found = []
    for group in by_problem(without_unread(trajectories, unread)).values():
        for one, rewards in zip(group, turn_rewards(group, scope=scope, penalty=penalty), strict=True):
            finite(rewards, f"Rewards of trajectory {one.id}")
            found += [replace(row_of(one, place), reward=reward) for place, reward in enumerate(rewards)]
    return found
