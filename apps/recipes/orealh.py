"""OREAL-H of Intern-S1-MO (§4.3, Algorithm 1): credit for rounds from the values of their lemmas.

Per problem: the conjugate reward of each final proof, the values of all lemmas from the graph of all trajectories, and credit
for each round from the values before and after it. OREAL's loss over rounds then treats a round as positive or negative by the
sign of its credit. `credit="corrected"` shifts the printed equation by one (docs/learning.md), `"printed"` reproduces it,
`"trajectory"` gives every round the whole trajectory's RLOO. `keep="pair"` follows OREAL's released configuration, which it
combines with a token reward model: it keeps one right and one wrong trajectory per problem, with advantages over all. The cold
start is supervised, on rounds with a readable lemma summary, on answers, and on accepted answers to the question alone.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from apps.recipes.mathematics.advantages import learnable_groups, leave_one_out
from apps.recipes.mathematics.arrays import NothingToLearn, NotLearnable
from apps.recipes.mathematics.conjugate_reward import Form, conjugate_reward, group_conjugate_rewards, highest_reward
from apps.recipes.mathematics.lemma_values import LemmaValues, ProofPath, Terminals, Weighting, lemma_values
from apps.recipes.mathematics.losses import OrealFactors
from apps.recipes.mathematics.progress import (
    RoundAdvantages,
    RoundsTaken,
    Scope,
    progress_advantages,
    progress_advantages_as_printed,
)
from apps.recipes.mathematics.rows import Row
from apps.recipes.options import ROUNDS
from apps.recipes.recipe import Rate, Rollouts, Training
from apps.recipes.trajectory import Trajectory, by_problem, row_of, with_advantage

Credit = Literal["corrected", "printed", "trajectory"]
Keep = Literal["all", "pair"]
TRAINING = Training(
    name="orealh",
    title="OREAL-H",
    source="Intern-S1-MO §4.3",
    family="rounds",
    objective="oreal",
    rate=Rate(5e-7, 1e-7),
    rollouts=Rollouts(prompts=64, group=16, temperature=1.0, new_tokens=65_536),  # temperature: OREAL's
    rows_per_step=1_024,  # 64 × 16; the paper counts trajectories
    loss=OrealFactors(),
    weight_decay=0.01,  # OREAL's
    options=ROUNDS,
)
COLD_START = Training(
    name="orealh_cold_start",
    title="Cold start of OREAL-H",
    source="Intern-S1-MO §4.2",
    family="rounds",
    objective="supervised",
    rate=Rate(3e-5, 0.0),  # QED-Nano's; the paper gives none
    rows_per_step=32,
    warmup_share=0.1,
)


def cold_start_rows(trajectories: Sequence[Trajectory]) -> list[Row]:
    """Rounds with a well-formed lemma summary, and answers. Raises `NothingToLearn` where there are none."""
    found = [
        row_of(one, place)
        for one in trajectories
        for place, turn in enumerate(one.turns)
        if turn.well_formed and turn.kind in ("round", "summary", "answer")
    ]
    if not found:
        raise NothingToLearn("There is no round with a well-formed lemma summary, and no answer.")
    return found


def rows(
    trajectories: Sequence[Trajectory],
    *,
    credit: Credit = "corrected",
    form: Form = "logodds",
    scope: Scope = "library",
    gamma: float = 1.0,
    weighting: Weighting = "counts",
    terminals: Terminals = "all",
    keep: Keep = "all",
) -> list[Row]:
    """One row per round, answer and judged revision, with an advantage in units of the highest reward.

    `scope` and `gamma` are those of `progress_advantages`, `weighting` and `terminals` those of `lemma_values`. Rounds without
    a new valid lemma have advantage 0 and contribute KL only. Raises `NotLearnable` for a proof without votes, groups with
    different numbers of votes, or silent groups only; `NothingToLearn` where `keep` leaves nothing.
    """
    groups = list(by_problem(trajectories).values())
    rewards = [group_rewards(group, form=form) for group in groups]
    found: list[Row] = []
    for place in learnable_groups(rewards):
        group = groups[place]
        values = values_of(group, rewards[place], weighting=weighting, terminals=terminals)
        scale = highest_reward(_votes(group[0])[1]) if form == "logodds" else 1.0
        given = _advantages(group, rewards[place], values, credit, scope=scope, gamma=gamma)
        kept = _pair(group, rewards[place]) if keep == "pair" else range(len(group))
        found += [row for one in kept for row in _rows(group[one], rewards[place][one], given[one], scale)]
    if not found:
        raise NothingToLearn("keep = pair needs trajectories with and without a reward, but no problem has both.")
    return found


def group_rewards(group: Sequence[Trajectory], *, form: Form = "logodds") -> list[float]:
    """Conjugate rewards of one problem's trajectories; 0 where the final answer is wrong."""
    group_conjugate_rewards([_votes(one) for one in group])
    return [conjugate_reward(*_votes(one), answer_ok=one.answer_ok, form=form) for one in group]


def values_of(
    group: Sequence[Trajectory], rewards: Sequence[float], *, weighting: Weighting = "counts", terminals: Terminals = "all"
) -> LemmaValues:
    """Values of all lemmas of one problem."""
    paths = []
    for one, reward in zip(group, rewards, strict=True):
        lemmas = frozenset(name for turn in one.turns for name in turn.lemmas)
        paths.append(ProofPath(reward, lemmas, one.derived, one.used))
    return lemma_values(paths, weighting=weighting, terminals=terminals)


def _pair(group: Sequence[Trajectory], rewards: Sequence[float]) -> list[int]:
    """Indices of a random trajectory with a reward (right for the token reward model) and of one without.

    Seeded by the problem; empty where either kind is missing.
    """
    random = np.random.default_rng(list(group[0].problem_id.encode()))
    right = [place for place, reward in enumerate(rewards) if reward > 0]
    wrong = [place for place, reward in enumerate(rewards) if reward <= 0]
    return [int(random.choice(places)) for places in (right, wrong)] if right and wrong else []


def _advantages(
    group: Sequence[Trajectory],
    rewards: Sequence[float],
    values: LemmaValues,
    credit: Credit,
    *,
    scope: Scope,
    gamma: float,
) -> list[RoundAdvantages | float]:
    """Advantages by trajectory: one for all its turns, or one for each round."""
    if credit == "trajectory":
        return [float(advantage) for advantage in leave_one_out(rewards)]
    taken = [rounds_of(one, reward) for one, reward in zip(group, rewards, strict=True)]
    if credit == "printed":
        return list(progress_advantages_as_printed(taken, values.of, gamma=gamma))
    return list(progress_advantages(taken, values.of, gamma=gamma, scope=scope))


def rounds_of(one: Trajectory, reward: float) -> RoundsTaken:
    """Rounds of a trajectory, as input of its credit. A revision without a verdict changes nothing and gets no credit."""
    revisions = [turn.reward for turn in one.turns if turn.kind == "revision" and turn.reward is not None]
    return RoundsTaken([list(turn.lemmas) for turn in one.turns if turn.kind == "round"], reward, revisions)


def _rows(one: Trajectory, reward: float, given: RoundAdvantages | float, scale: float) -> list[Row]:
    if not isinstance(given, RoundAdvantages):
        return [with_advantage(row_of(one, place), reward, given / scale) for place in range(len(one.turns))]
    rounds, revisions = iter(given.rounds), iter(given.revisions)
    found = []
    for place, turn in enumerate(one.turns):
        if turn.kind == "summary" or (turn.kind == "revision" and turn.reward is None):
            continue
        advantage = next(rounds) if turn.kind == "round" else next(revisions) if turn.kind == "revision" else given.answer
        found.append(with_advantage(row_of(one, place), reward, advantage / scale))
    return found


def _votes(one: Trajectory) -> tuple[int, int]:
    if one.votes is None:
        raise NotLearnable(f"Trajectory {one.id}: its final proof has no votes, so it has no conjugate reward.")
    return one.votes
