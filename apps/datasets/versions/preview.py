"""Preview of a version: counts of trajectories, turns, groups, rewards, roles, lengths and runs left out.

The recipe runs in the export program only, so the preview shows its input, not its rows.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.datasets.recorded.groups import problem_id
from apps.datasets.recorded.recorded import Recorded, recorded_of
from apps.datasets.recorded.trajectories import Trajectory, trajectories_of
from apps.datasets.rewards import Judge
from apps.datasets.versions.choosing import NothingToMake, runs_chosen
from apps.recipes.registry import TRAININGS
from apps.runs.models import Run

#: Number of runs read for a preview; it limits the time that the page waits.
MOST_PREVIEWED = 200
PASS_RATES = ("0 %", "up to 25 %", "up to 50 %", "up to 75 %", "up to 99 %", "100 %")


@dataclass
class Preview:
    """Counts of a preview.

    `trouble`: why nothing can be made. `previewed` of `runs` were read. A group is compared: the answers to one prompt of one
    role, or the attempts at a problem. `silent` groups have equal rewards, `alone` ones a single answer.
    """

    runs: int = 0
    previewed: int = 0
    trouble: str = ""
    problems: int = 0
    trajectories: int = 0
    turns: int = 0
    groups: int = 0
    silent: int = 0
    alone: int = 0
    has_tokens: bool = True
    roles: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    pass_rates: Counter[str] = field(default_factory=Counter)
    left: list[dict[str, Any]] = field(default_factory=list)

    @property
    def role_rows(self) -> list[tuple[str, int]]:
        return self.roles.most_common()

    @property
    def pass_rows(self) -> list[tuple[str, int]]:
        return [(name, self.pass_rates[name]) for name in PASS_RATES]

    @property
    def length_rows(self) -> list[tuple[int, int]]:
        """Pairs of an upper limit in tokens and the number of turns."""
        return sorted(self.lengths.items())


def preview_of(runs: Sequence[Run], recipe: str, judge: Judge) -> Preview:
    """Count `runs`, at most the first `MOST_PREVIEWED`."""
    found = Preview(runs=len(runs))
    try:
        chosen = runs_chosen(runs, TRAININGS[recipe])
    except NothingToMake as nothing:
        found.trouble = str(nothing)
        return found
    rewards: dict[tuple[str, ...], list[float]] = {}
    for run in chosen.runs[:MOST_PREVIEWED]:
        recorded = recorded_of(run)
        found.previewed += 1
        found.has_tokens = recorded.has_tokens
        lengths = dict(run.steps.filter(kind="call").values_list("key", "completion_tokens"))
        for one in trajectories_of(recorded, TRAININGS[recipe], judge, chosen.left):
            for name, reward in _groups(one, problem_id(recorded)):
                rewards.setdefault(name, []).append(reward)
            _count(found, recorded, one, lengths)
    for group in rewards.values():
        found.pass_rates[_bucket(group)] += 1
        found.silent += len(group) > 1 and len(set(group)) == 1
    found.groups, found.problems = len(rewards), len({name[0] for name in rewards})
    found.alone = sum(len(group) == 1 for group in rewards.values())
    found.left = chosen.left.rows
    if not found.turns:
        found.trouble = "These runs contain no trajectory to learn from. Choose other runs or another recipe."
    return found


def _groups(one: Trajectory, problem: str) -> Iterator[tuple[tuple[str, ...], float]]:
    """Groups of a trajectory, each name starting with its problem, with the trajectory's reward in it."""
    turns = [turn for turn in one["turns"] if turn.get("group")]
    for turn in turns:
        reward = (one["reward"] or 0.0) if turn["reward"] is None else turn["reward"]
        yield (problem, turn["role"], turn["group"]), float(reward)
    if not turns:
        yield (problem,), float(one["reward"] or 0.0)


def _count(found: Preview, recorded: Recorded, one: dict[str, Any], lengths: dict[str, int]) -> None:
    found.trajectories += 1
    for turn in one["turns"]:
        found.turns += 1
        found.roles[turn["role"]] += 1
        found.lengths[1 << max(lengths.get(turn["call"], 1) - 1, 0).bit_length()] += 1


def _bucket(rewards: list[float]) -> str:
    share = sum(reward > 0 for reward in rewards) / len(rewards)
    if share in (0, 1):
        return PASS_RATES[0] if share == 0 else PASS_RATES[-1]
    return next(name for name, end in zip(PASS_RATES[1:-1], (0.25, 0.5, 0.75, 1.0), strict=True) if share <= end)
