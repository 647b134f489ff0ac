"""Counts of a version, made along with its rows: by role, group and length. Their size does not depend on the rows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.rows import Row, groups_of
from apps.recipes.rows.tokens import StoredList
from apps.recipes.tallies import TALLY_KEY, Tally

#: Buckets of the trainer's `passrate/…`.
PASS_RATES = ("0", "0-25", "25-50", "50-75", "75-99", "1")
MOST_EXAMPLES = 5


@dataclass
class LeftOut:
    """Items left out: count and first examples by reason."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, what: str, count: int = 1) -> None:
        self.counts[reason] += count
        named = self.examples.setdefault(reason, [])
        if len(named) < MOST_EXAMPLES:
            named.append(what)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Reasons with counts and examples, most frequent first."""
        return [{"reason": one, "count": count, "examples": self.examples[one]} for one, count in self.counts.most_common()]


@dataclass
class Counts:
    """Counts of rows. `lengths` by powers of two: a completion of 5 to 8 tokens counts under 8.

    `tally`: the tally of all trajectories, including those without a row.
    """

    rows: int = 0
    problems: int = 0
    trajectories: int = 0
    groups: int = 0
    with_logprobs: int = 0
    tokens: int = 0
    own_tokens: int = 0
    longest: int = 0
    cut_off: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    licences: Counter[str] = field(default_factory=Counter)
    pass_rates: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    tally: Tally = field(default_factory=dict)

    def take(self, rows: Sequence[Row], *, has_tokens: bool, by_turn: bool = False) -> None:
        """Count the rows of one problem; groups never span problems. `by_turn`: turns are compared, not trajectories."""
        self.problems += 1
        self.rows += len(rows)
        self.trajectories += len({row.trajectory_id for row in rows})
        for group in groups_of(rows).values():
            self.groups += 1
            if all(row.reward is not None for row in group):
                rewards = [float(row.reward or 0) for row in group] if by_turn else _by_trajectory(group)
                self.pass_rates[pass_rate(rewards)] += 1
        for row in rows:
            self.roles[row.role] += 1
            self.licences[row.licence] += 1
            self.cut_off += row.finish_reason == "length"
            self.with_logprobs += row.logprobs is not None
            if has_tokens:
                self._length(row)

    def _length(self, row: Row) -> None:
        size = len(row.completion_ids)
        self.tokens += size
        self.own_tokens += int(row.loss_mask.values().sum()) if isinstance(row.loss_mask, StoredList) else sum(row.loss_mask)
        self.longest = max(self.longest, size)
        self.lengths[1 << max(size - 1, 0).bit_length()] += 1

    def as_json(self) -> dict[str, Any]:
        """Counts as JSON values."""
        return {
            "rows": self.rows,
            "problems": self.problems,
            "trajectories": self.trajectories,
            "groups": self.groups,
            "with_logprobs": self.with_logprobs,
            "tokens": self.tokens,
            "own_tokens": self.own_tokens,
            "longest": self.longest,
            "cut_off": self.cut_off,
            "roles": dict(self.roles.most_common()),
            "licences": dict(self.licences.most_common()),
            "pass_rates": {name: self.pass_rates[name] for name in PASS_RATES if self.pass_rates.total()},
            "lengths": {str(size): self.lengths[size] for size in sorted(self.lengths)},
            TALLY_KEY: self.tally,
        }


def _by_trajectory(group: Sequence[Row]) -> list[float]:
    """Best reward of each trajectory's turns, so that a trajectory counts once."""
    best: dict[str, float] = {}
    for row in group:
        reward = float(row.reward or 0)
        best[row.trajectory_id] = max(reward, best.get(row.trajectory_id, reward))
    return list(best.values())


def pass_rate(rewards: Sequence[float]) -> str:
    """Bucket of the share of positive rewards. Raises `NotLearnable` for a reward that is not finite."""
    if not np.isfinite(rewards).all():
        raise NotLearnable("A group contains a reward that is not a finite number.")
    share = sum(reward > 0 for reward in rewards) / len(rewards)
    if share in (0, 1):
        return str(int(share))
    return next(name for name, end in (("0-25", 0.25), ("25-50", 0.5), ("50-75", 0.75), ("75-99", 1.0)) if share <= end)
