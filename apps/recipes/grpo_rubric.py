"""QED-Nano's reinforcement learning (§4.1): several proofs of one problem, graded 0 to 7 by a rubric.

The advantage is grade/7 minus the group's mean, not divided by the deviation. Losses are summed and divided by the rows. The
clip of the released configuration (4) hardly ever applies. `prompts="filtered"` leaves out problems whose attempts earn nothing
or at least 70 % of the marks. The paper filters once, with its base model, before training.
"""

from collections.abc import Sequence

from apps.recipes.mathematics.advantages import centred, learnable_groups
from apps.recipes.mathematics.losses import Clip
from apps.recipes.mathematics.rows import Row
from apps.recipes.mathematics.rubric import FULL_MARKS, Prompts, prompts_kept, rubric_reward
from apps.recipes.options import PROMPTS, UNREAD
from apps.recipes.recipe import Rate, Rollouts, Training
from apps.recipes.trajectory import Trajectory, Unread, by_problem, row_of, with_advantage, without_unread

TRAINING = Training(  # QED-Nano §4.1 and its released configuration
    name="grpo_rubric",
    title="GRPO with rubric grades",
    source="QED-Nano §4.1",
    family="proofs",
    objective="clipped",
    rate=Rate(1e-6, 1e-6),
    rollouts=Rollouts(prompts=64, group=16, temperature=0.8, new_tokens=49_152),
    rows_per_step=1_024,
    loss=Clip(low=4.0, high=4.0, aggregation="sum"),
    gradient_clip=0.3,
    entropy_bonus=1e-4,
    most_lag=5,
    scale=7.0,
    fresh_only=True,
    options=(PROMPTS, UNREAD),
)


def rows(
    trajectories: Sequence[Trajectory], *, full: float = FULL_MARKS, prompts: Prompts = "all", unread: Unread = "zero"
) -> list[Row]:
    """One row per proof; a trajectory's reward is its grade, 0 to `full`. Answers to one prompt are compared: those with the
    same `Turn.group`, else of the same problem.

    Raises `NotLearnable` where all groups are silent.
    """
    problems = [(one, [rubric_reward(each.reward, full=full) for each in one]) for one in _by_problem(trajectories, unread)]
    groups = [group for of_problem in prompts_kept(problems, prompts) for group in _by_prompt(of_problem)]
    rewards = [[rubric_reward(one.reward, full=full) for one in group] for group in groups]
    found = []
    for place in learnable_groups(rewards):
        for one, reward, advantage in zip(groups[place], rewards[place], centred(rewards[place]), strict=True):
            found.append(with_advantage(row_of(one, len(one.turns) - 1), reward, advantage))
    return found


def _by_problem(trajectories: Sequence[Trajectory], unread: Unread) -> list[list[Trajectory]]:
    return list(by_problem(without_unread(trajectories, unread)).values())


def _by_prompt(trajectories: Sequence[Trajectory]) -> list[list[Trajectory]]:
    found: dict[str, list[Trajectory]] = {}
    for one in trajectories:
        found.setdefault(one.turns[-1].group, []).append(one)
    return list(found.values())
