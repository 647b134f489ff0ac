"""QED-Nano's reinforcement learning over a reasoning cache (§4.2 and its released code).

A trajectory of reason-and-summarise cycles gives states: the problem with the summary so far. Two states are sampled, each
starts a group of new attempts, and only these attempts are trained on; `Turn.group` names the (problem, state). Summaries come
from another model, so they get no gradient.
"""

from collections.abc import Sequence
from dataclasses import replace

from apps.recipes import grpo_rubric
from apps.recipes.mathematics.advantages import centred, learnable_groups
from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.rows import Row
from apps.recipes.mathematics.rubric import FULL_MARKS, Prompts, prompts_kept, rubric_reward
from apps.recipes.trajectory import Trajectory, Unread, row_of, with_advantage

TRAINING = replace(
    grpo_rubric.TRAINING,
    name="rc_rl",
    title="GRPO over a reasoning cache",
    source="QED-Nano §4.2",
    family="states",
    most_lag=None,
    fresh_only=False,
)


def rows(
    trajectories: Sequence[Trajectory], *, full: float = FULL_MARKS, prompts: Prompts = "all", unread: Unread = "zero"
) -> list[Row]:
    """One row per attempt, compared within its (problem, state) only; turns of kind `summary` give no rows. The state is the
    prompt, so `prompts="filtered"` leaves out states.

    Raises `NotLearnable` for an attempt without state or grade, and where all groups are silent.
    """
    groups: dict[str, list[tuple[float, Row]]] = {}
    for trajectory in trajectories:
        for place, turn in enumerate(trajectory.turns):
            if turn.kind == "summary" or (turn.unread and unread == "leave"):
                continue
            if not turn.group or turn.reward is None:
                raise NotLearnable(f"Trajectory {trajectory.id}, turn {place}: an attempt needs a state and a grade.")
            reward = rubric_reward(turn.reward, full=full)
            groups.setdefault(turn.group, []).append((reward, row_of(trajectory, place)))
    listed = prompts_kept([(group, [reward for reward, _ in group]) for group in groups.values()], prompts)
    rewards = [[reward for reward, _ in group] for group in listed]
    return [
        with_advantage(row, reward, advantage)
        for place in learnable_groups(rewards)
        for (reward, row), advantage in zip(listed[place], centred(rewards[place]), strict=True)
    ]
