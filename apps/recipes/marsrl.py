"""MarsRL (§3): Solver, Verifier and Corrector as one policy, each with its own rewards and groups.

A group shares one input: attempts at a problem, verdicts on one solution, or corrections of one flagged solution; `Turn.group`
names it. Rewards are 0 or 1 (`recipes/mathematics/mars.py`); the whole trajectory has none. A cold start is needed: without it,
Verifiers learn to flag everything and then stop learning.
"""

from collections.abc import Sequence

from apps.recipes.mathematics.advantages import grpo, learnable_groups
from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.losses import DAPO
from apps.recipes.mathematics.rows import Row
from apps.recipes.options import UNREAD
from apps.recipes.recipe import Rate, Rollouts, Training
from apps.recipes.trajectory import Trajectory, Unread, row_of, with_advantage

TRAINING = Training(
    name="marsrl",
    title="MarsRL",
    source="MarsRL §3",
    family="agents",
    objective="clipped",
    rate=Rate(1e-6, 1e-6),  # of its repository's PDF
    rollouts=Rollouts(prompts=128, group=8, temperature=0.85, new_tokens=65_536),
    rows_per_step=1_024,  # 128 × 8; a problem's five steps arrive one after another
    loss=DAPO,  # chosen: the paper gives neither clip nor KL
    options=(UNREAD,),
)


def rows(trajectories: Sequence[Trajectory], *, unread: Unread = "zero") -> list[Row]:
    """One row per output of any role, compared within its group. A cut-off output has reward 0.

    Raises `NotLearnable` for a turn without reward or group, and where all groups are silent.
    """
    groups: dict[tuple[str, str], list[tuple[float, Row]]] = {}
    for trajectory in trajectories:
        for place, turn in enumerate(trajectory.turns):
            if turn.unread and unread == "leave":
                continue
            if turn.reward is None or not turn.group:
                raise NotLearnable(f"Trajectory {trajectory.id}, turn {place} ({turn.role}): it needs a reward and a group.")
            reward = 0.0 if turn.finish_reason == "length" else turn.reward
            groups.setdefault((turn.role, turn.group), []).append((reward, row_of(trajectory, place)))
    listed = list(groups.values())
    rewards = [[reward for reward, _ in group] for group in listed]
    return [
        with_advantage(row, reward, advantage)
        for place in learnable_groups(rewards)
        for (reward, row), advantage in zip(listed[place], grpo(rewards[place]), strict=True)
    ]
