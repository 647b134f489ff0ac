"""Input of recipes: trajectories of one problem with their turns, rewards and, for provers with lemmas, their rounds.

The exporter makes them from recorded runs; toy environments make them directly. Token ids are the sampled ones. A turn
without log-probabilities can be used by supervised recipes only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from apps.recipes.mathematics.arrays import NothingToLearn, NotLearnable
from apps.recipes.mathematics.rows import Row

Kind = Literal["turn", "round", "answer", "revision", "summary"]
Unread = Literal["zero", "leave"]


@dataclass(frozen=True)
class Turn:
    """One completion of the policy: a turn, a round, an answer, a revision or a summary.

    `reward`: its own reward, where it was judged individually. `group`: name of the group with the same prompt, where that is
    not the problem. `passed`: a verdict on a solution. `invalid`: its action was unreadable. `tool_ok`: whether the called tool
    succeeded, None without a call. `unread`: the whole answer was cut off or unreadable, so its reward is 0. `lemmas`: the
    *valid* lemmas of a round. `well_formed`: its summary was readable.
    """

    prompt_ids: Sequence[int]
    completion_ids: Sequence[int]
    loss_mask: Sequence[int] | None = None
    logprobs: Sequence[float] | None = None
    role: str = "solver"
    kind: Kind = "turn"
    reward: float | None = None
    group: str = ""
    passed: bool | None = None
    invalid: bool = False
    tool_ok: bool | None = None
    unread: bool = False
    lemmas: Sequence[str] = ()
    parents: Sequence[str] = ()
    well_formed: bool = True
    policy_version: int = 0
    finish_reason: str = "stop"


@dataclass(frozen=True)
class Trajectory:
    """One attempt at one problem. `reward` is that of the episode; `votes` are (passes, votes) of its final proof.

    `derived`: edges between its lemmas. `used`: lemmas that its final proof uses. `answer_ok`: whether its final answer agrees
    with the reference answer, where there is one. `is_judged`: whether its reward is known; else it is 0.
    """

    id: str
    problem_id: str
    turns: Sequence[Turn]
    reward: float = 0.0
    is_judged: bool = True
    votes: tuple[int, int] | None = None
    answer_ok: bool | None = None
    derived: frozenset[tuple[str, str]] = frozenset()
    used: frozenset[str] = frozenset()
    run_id: str = ""
    split: str = "train"
    licence: str = ""


def row_of(trajectory: Trajectory, place: int, *, group: str = "") -> Row:
    """Row of one turn, without reward or advantage. Without a mask, all tokens count as the policy's own."""
    turn = trajectory.turns[place]
    passes, votes = trajectory.votes or (None, None)
    return Row(
        prompt_ids=turn.prompt_ids,
        completion_ids=turn.completion_ids,
        loss_mask=turn.loss_mask if turn.loss_mask is not None else [1] * len(turn.completion_ids),
        logprobs=turn.logprobs,
        group_id=group or turn.group or trajectory.problem_id,
        role=turn.role,
        run_id=trajectory.run_id,
        problem_id=trajectory.problem_id,
        trajectory_id=trajectory.id,
        step_index=place,
        policy_version=turn.policy_version,
        finish_reason=turn.finish_reason,
        verdict_k=passes,
        verdict_n=votes,
        lemma_ids=tuple(turn.lemmas),
        parent_lemma_ids=tuple(turn.parents),
        split=trajectory.split,
        licence=trajectory.licence,
    )


def with_advantage(row: Row, reward: float, advantage: float) -> Row:
    """Copy of a row with its reward and advantage."""
    return replace(row, reward=float(reward), advantage=float(advantage))


def without_unread(trajectories: Sequence[Trajectory], unread: Unread) -> list[Trajectory]:
    """Trajectories to compare; with `leave` those whose last answer was read. Raises `NothingToLearn` where none is left."""
    kept = [one for one in trajectories if unread == "zero" or not one.turns[-1].unread]
    if trajectories and not kept:
        raise NothingToLearn("Every answer was cut off or unreadable.")
    return kept


def by_problem(trajectories: Iterable[Trajectory]) -> dict[str, list[Trajectory]]:
    """Trajectories by problem, in order of appearance. Raises `NotLearnable` where there are none."""
    found: dict[str, list[Trajectory]] = {}
    for trajectory in trajectories:
        found.setdefault(trajectory.problem_id, []).append(trajectory)
    if not found:
        raise NotLearnable("There are no trajectories to learn from.")
    return found
