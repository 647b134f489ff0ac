"""AlphaApollo's turn-level GRPO (§2.2): a row for each turn, with a gradient for the policy's own tokens only.

Reward: that of the episode for every turn, minus 0.1 for an invalid action (the code, our default), or the grade of each turn's
own answer (the paper's text, `scope="turn"`). Baseline: over trajectories (the text, our default) or over all turn rows (the
code).
"""

from collections.abc import Sequence
from typing import Literal

from apps.recipes.mathematics.advantages import (
    INVALID_ACTION,
    Baseline,
    episode_turn_rewards,
    learnable_groups,
    turn_advantages,
)
from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.losses import Clip
from apps.recipes.mathematics.rows import Row
from apps.recipes.options import BASELINE, PENALTY, SCOPE, UNREAD
from apps.recipes.recipe import Rate, Rollouts, Training
from apps.recipes.trajectory import Trajectory, Unread, by_problem, row_of, with_advantage, without_unread

Scope = Literal["episode", "turn"]
TRAINING = Training(
    name="turn_grpo",
    title="GRPO over turns",
    source="AlphaApollo §2.2",
    family="turns",
    objective="clipped",
    rate=Rate(1e-6, 1e-6),
    rollouts=Rollouts(prompts=128, group=8, temperature=1.0),  # chosen: the code's 0.4 is the temperature of validation
    rows_per_step=1_024,  # 128 × 8; the paper counts trajectories
    loss=Clip(beta=0.01, aggregation="token"),  # KL from the code
    options=(SCOPE, BASELINE, PENALTY, UNREAD),
)


def rows(
    trajectories: Sequence[Trajectory],
    *,
    scope: Scope = "episode",
    baseline: Baseline = "trajectory",
    penalty: float = INVALID_ACTION,
    unread: Unread = "zero",
) -> list[Row]:
    """One row per turn. Problems with equal episode rewards are left out, even if penalties differ.

    Raises `NotLearnable` where all groups are silent, or a turn has no reward with `scope="turn"`.
    """
    groups = list(by_problem(without_unread(trajectories, unread)).values())
    kept = learnable_groups([[one.reward for one in group] for group in groups])
    return [row for place in kept for row in group_rows(groups[place], scope=scope, baseline=baseline, penalty=penalty)]


def group_rows(group: Sequence[Trajectory], *, scope: Scope, baseline: Baseline, penalty: float) -> list[Row]:
    """Rows of one problem's trajectories."""
    episodes = [one.reward for one in group]
    rewards = turn_rewards(group, scope=scope, penalty=penalty)
    advantages = turn_advantages(rewards, episodes, baseline=baseline)
    return [
        with_advantage(row_of(one, place), rewards[number][place], advantages[number][place])
        for number, one in enumerate(group)
        for place in range(len(one.turns))
    ]


def turn_rewards(group: Sequence[Trajectory], *, scope: Scope, penalty: float) -> list[list[float]]:
    """Rewards of all turns, one list per trajectory. Raises `NotLearnable` for an ungraded turn with `scope="turn"`."""
    if scope == "episode":
        invalid = [[turn.invalid for turn in one.turns] for one in group]
        return episode_turn_rewards([one.reward for one in group], invalid, penalty=penalty)
    found = []
    for one in group:
        missing = [place for place, turn in enumerate(one.turns) if turn.reward is None]
        if missing:
            raise NotLearnable(f"Trajectory {one.id}: turn {missing[0]} has no grade of its own.")
        found.append([float(turn.reward or 0.0) for turn in one.turns])
    return found
