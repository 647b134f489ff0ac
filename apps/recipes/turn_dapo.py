"""AlphaApollo's turn-level rows with DAPO: silent groups are dropped and replaced, long answers are penalised.

The clip is wider upwards (0.28), there is no KL, and the loss is a mean over tokens. A toy's step plays until it is full, at
most ten batches. A stream continues with the next groups; its job fails after ten visits of all problems without rows.
Recorded rows cannot be replaced.
"""

from collections.abc import Sequence
from dataclasses import replace

from apps.recipes import turn_grpo
from apps.recipes.mathematics.advantages import INVALID_ACTION, Baseline, learnable_groups, overlong_penalty
from apps.recipes.mathematics.losses import DAPO
from apps.recipes.mathematics.rows import Row
from apps.recipes.options import BASELINE, LENGTHS, PENALTY, UNREAD
from apps.recipes.trajectory import Trajectory, Unread, by_problem, without_unread
from apps.recipes.turn_grpo import group_rows

TRAINING = replace(
    turn_grpo.TRAINING,
    name="turn_dapo",
    title="DAPO over turns",
    source="AlphaApollo §2.2; DAPO",
    loss=DAPO,
    options=(BASELINE, PENALTY, *LENGTHS, UNREAD),
)


def rows(
    trajectories: Sequence[Trajectory],
    *,
    longest: int | None = None,
    margin: int | None = None,
    baseline: Baseline = "trajectory",
    penalty: float = INVALID_ACTION,
    unread: Unread = "zero",
) -> list[Row]:
    """One row per turn, of problems whose rewards differ before any length penalty.

    With `longest` (maximum tokens of a turn; 0 or None: no limit) a trajectory's reward falls by up to 1 over the last `margin`
    tokens (default: a fifth) of its longest turn. Raises `NotLearnable` where all groups are silent.
    """
    groups = list(by_problem(without_unread(trajectories, unread)).values())
    found: list[Row] = []
    for place in learnable_groups([[one.reward for one in group] for group in groups]):
        group = groups[place]
        if longest:
            group = [replace(one, reward=one.reward + length_penalty(one, longest, margin)) for one in group]
        found += group_rows(group, scope="episode", baseline=baseline, penalty=penalty)
    return found


def length_penalty(one: Trajectory, longest: int, margin: int | None = None) -> float:
    """Penalty from 0 to −1, by the trajectory's longest turn; the default margin is a fifth of `longest`."""
    length = max(len(turn.completion_ids) for turn in one.turns)
    return overlong_penalty(length, limit=longest, margin=margin or max(1, longest // 5))
