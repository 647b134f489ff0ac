"""Credit for the rounds of a trajectory from the values of their lemmas (Intern-S1-MO §4.3.1, Eq. 6).

Eq. 6 as printed is off by one: it takes the lemmas that round t *generated* as the value of the state *before* round t. The
baseline then depends on the action it is a baseline for, a round that finds a strong lemma is charged for it, and the round
before gets the credit; on a toy a policy that learns with the shifted form unlearns with the printed one. `progress_advantages`
is the shifted form and the one to use; `progress_advantages_as_printed` exists to reproduce the equation. γ and r_t are not
given in the paper (1 and 0 here), nor is V where a round generated nothing (the value before is carried forward).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from workers.learning.arrays import NotLearnable, group_rewards

Scope = Literal["library", "round"]


@dataclass(frozen=True)
class RoundsTaken:
    """The valid lemmas that each round of one trajectory generated, its reward, and the rewards after each later revision."""

    rounds: Sequence[Sequence[str]]
    reward: float
    revisions: Sequence[float] = ()


@dataclass(frozen=True)
class RoundAdvantages:
    """Advantages of one trajectory: per round with its mask C_t, of the round that answers, and of each revision."""

    rounds: tuple[float, ...]
    progressed: tuple[bool, ...]
    answer: float
    revisions: tuple[float, ...] = ()

    @property
    def total(self) -> float:
        """With γ = 1 and no step rewards: R − mean R of the group, revisions left out."""
        return sum(self.rounds) + self.answer


def progress_advantages(
    group: Sequence[RoundsTaken],
    values: Mapping[str, float],
    *,
    gamma: float = 1.0,
    round_reward: float = 0.0,
    scope: Scope = "library",
) -> list[RoundAdvantages]:
    """A_t = C_t (r_t + γ V_{t+1} − V_t), corrected: V_1 is the group's mean reward, V_{t+1} the best lemma *after* round t.

    `scope="library"` takes the best of all lemmas so far (they are kept, so a state cannot get worse), `"round"` only those
    of the round, as the paper's L_t. A round that adds no new valid lemma has A = 0 and leaves V as it was. The answering
    round gets R − V_{T+1}, revision j gets R_j − R_{j−1}. With γ = 1 and r = 0 the group's advantages sum to 0.
    Raises `NotLearnable` for an empty group, a reward that is no number, or a lemma without a value.
    """
    start = float(np.mean(group_rewards([taken.reward for taken in group])))
    return [_corrected(taken, values, start, gamma, round_reward, scope) for taken in group]


def _corrected(
    taken: RoundsTaken, values: Mapping[str, float], start: float, gamma: float, round_reward: float, scope: Scope
) -> RoundAdvantages:
    library: set[str] = set()
    state, advantages, progressed = start, [], []
    for generated in taken.rounds:
        fresh = set(generated) - library
        library |= fresh
        progressed.append(bool(fresh))
        if not fresh:
            advantages.append(0.0)
            continue
        after = _best(library if scope == "library" else fresh, values)
        advantages.append(round_reward + gamma * after - state)
        state = after
    return RoundAdvantages(tuple(advantages), tuple(progressed), taken.reward - state, _revised(taken))


def progress_advantages_as_printed(
    group: Sequence[RoundsTaken], values: Mapping[str, float], *, gamma: float = 1.0, round_reward: float = 0.0
) -> list[RoundAdvantages]:
    """Eq. 6 as printed: A_t = r_t + γ max v over L_{t+1} − max v over L_t. Only to reproduce it; see the head of this module.

    Where L_{t+1} is empty, or after the last round, the value of L_t is carried forward. Raises as `progress_advantages`.
    """
    start = float(np.mean(group_rewards([taken.reward for taken in group])))
    found = []
    for taken in group:
        state, states = start, []
        for generated in taken.rounds:
            state = _best(set(generated), values) if generated else state
            states.append(state)
        progressed = tuple(bool(generated) for generated in taken.rounds)
        following = [*states[1:], state]
        advantages = tuple(
            round_reward + gamma * after - before if moved else 0.0
            for before, after, moved in zip(states, following, progressed, strict=True)
        )
        found.append(RoundAdvantages(advantages, progressed, taken.reward - state, _revised(taken)))
    return found


def _revised(taken: RoundsTaken) -> tuple[float, ...]:
    rewards = [taken.reward, *group_rewards(taken.revisions)] if taken.revisions else [taken.reward]
    return tuple(float(after - before) for before, after in pairwise(rewards))


def _best(lemmas: set[str], values: Mapping[str, float]) -> float:
    unknown = sorted(lemmas - values.keys())
    if unknown:
        raise NotLearnable(
            f"No value is known for the lemma {unknown[0]}; values come from the graph of the same trajectories."
        )
    return max(values[name] for name in lemmas)
