"""QED-Nano's reinforcement learning (§4.1): several proofs of one problem, graded 0 to 7 by a rubric.

The advantage is grade/7 less the group's mean, not divided by the deviation; losses are summed and divided by rows; the clip
of the released configuration (4) hardly ever acts. Problems on which the attempts earn 70 % of the marks or nothing are left
out with `prompts="filtered"`, as the paper does once, by its base model, before it trains.
"""

from collections.abc import Sequence

from workers.learning.advantages import centred, learnable_groups
from workers.learning.defaults import QED_NANO
from workers.learning.rows import Row
from workers.learning.rubric import FULL_MARKS, Prompts, prompts_kept, rubric_reward
from workers.recipes.recipe import Training
from workers.recipes.trajectory import Trajectory, by_problem, learned, row_of

TRAINING = Training(
    name="grpo_rubric",
    title="GRPO with rubric grades",
    source="QED-Nano §4.1",
    objective="clipped",
    rate=QED_NANO.rate,
    rollouts=QED_NANO.rollouts,
    loss=QED_NANO.loss,
    gradient_clip=QED_NANO.gradient_clip or 1.0,
    entropy_bonus=QED_NANO.entropy_bonus,
    most_lag=QED_NANO.most_lag,
)


def rows(trajectories: Sequence[Trajectory], *, full: float = FULL_MARKS, prompts: Prompts = "all") -> list[Row]:
    """One row a proof; a trajectory's reward is its grade, 0 to `full`. Compared is what answers one prompt: `Turn.group`,
    else the problem.

    Raises `NotLearnable` where no group teaches anything.
    """
    problems = [(one, [rubric_reward(each.reward, full=full) for each in one]) for one in by_problem(trajectories).values()]
    groups = [group for of_problem in prompts_kept(problems, prompts) for group in _by_prompt(of_problem)]
    rewards = [[rubric_reward(one.reward, full=full) for one in group] for group in groups]
    found = []
    for place in learnable_groups(rewards):
        for one, reward, advantage in zip(groups[place], rewards[place], centred(rewards[place]), strict=True):
            found.append(learned(row_of(one, len(one.turns) - 1), reward, advantage))
    return found


def _by_prompt(trajectories: Sequence[Trajectory]) -> list[list[Trajectory]]:
    found: dict[str, list[Trajectory]] = {}
    for one in trajectories:
        found.setdefault(one.turns[-1].group, []).append(one)
    return list(found.values())
