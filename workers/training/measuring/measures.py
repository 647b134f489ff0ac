"""Metrics of a step's rows: rewards, groups, roles, lengths, votes. Standard library only."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from statistics import fmean, pstdev

from apps.recipes.mathematics.rows import Row, groups_of
from apps.recipes.tallies import added, means_of, tools_tally, verdicts_tally
from apps.recipes.trajectory import Trajectory

#: Buckets of a group's mean reward, which is its pass rate where rewards are 0 and 1.
BUCKETS = ("0", "0-25", "25-50", "50-75", "75-99", "1")


def measures_of(rows: Sequence[Row], *, version: int | None = None) -> dict[str, float]:
    """Metrics of docs/learning_jobs.md that can be computed from rows, without those that do not apply.

    Recipes drop silent groups, and batches split groups. So the share of silent groups comes from sources that know all groups.
    """
    tokens = [len(row.completion_ids) for row in rows]
    found = {
        "rows": float(len(rows)),
        "completion_length": fmean(tokens),
        "longest_completion": float(max(tokens)),
        "truncated": fmean(row.finish_reason == "length" for row in rows),
        "masked_tokens": 1 - sum(map(sum, (row.loss_mask for row in rows))) / sum(tokens),
    }
    advantages = [row.advantage for row in rows if row.advantage is not None]
    if advantages:
        found["advantage_std"] = pstdev(advantages)
    if version is not None:
        lags = [version - row.policy_version for row in rows]
        own = [sum(row.loss_mask) for row in rows]
        found["lag"] = fmean(lags)
        found["lag_tokens"] = sum(lag * count for lag, count in zip(lags, own, strict=True)) / max(1, sum(own))
    return found | _rewards(_rewards_by_group(rows)) | _roles(rows) | _votes(rows)


def measures_of_rollouts(trajectories: Sequence[Trajectory]) -> dict[str, float]:
    """Rewards, pass rates, silent groups, tool use and verifiers' rates of all rollouts, including those without rows.

    Individually compared turns are grouped by role and group, whole trajectories by problem.
    """
    by_turn: dict[tuple[str, str], list[float]] = {}
    by_problem: dict[str, list[float]] = {}
    for one in trajectories:
        by_problem.setdefault(one.problem_id, []).append(one.reward)
        for turn in one.turns:
            if turn.group and turn.reward is not None:
                by_turn.setdefault((turn.role, turn.group), []).append(turn.reward)
    groups = list((by_turn or by_problem).values())
    tally = added(verdicts_tally(trajectories), tools_tally(trajectories))
    found = _rewards(groups) | ({"silent": _silent(groups)} if groups else {}) | means_of(tally)
    roles = sorted({role for role, _ in by_turn})
    for role in roles if len(roles) > 1 else ():
        own = [rewards for (name, _), rewards in by_turn.items() if name == role]
        found |= {f"role/{role}/silent": _silent(own), f"role/{role}/reward": fmean(chain.from_iterable(own))}
    return found


def _rewards(groups: Sequence[Sequence[float]]) -> dict[str, float]:
    rewards = [reward for group in groups for reward in group]
    if not rewards:
        return {}
    shares = Counter(_bucket(fmean(min(1.0, max(0.0, reward)) for reward in group)) for group in groups)
    found = {"reward": fmean(rewards), "reward_std": pstdev(rewards)}
    return found | {f"passrate/{name}": shares[name] / len(groups) for name in BUCKETS}


def _roles(rows: Sequence[Row]) -> dict[str, float]:
    names = sorted({row.role for row in rows if row.role})
    if len(names) < 2:
        return {}
    found: dict[str, float] = {}
    for name in names:
        own = [row for row in rows if row.role == name]
        found[f"role/{name}/rows"] = float(len(own))
        rewards = [row.reward for row in own if row.reward is not None]
        if rewards:
            found[f"role/{name}/reward"] = fmean(rewards)
    return found


def _votes(rows: Sequence[Row]) -> dict[str, float]:
    passes = Counter(row.verdict_k for row in rows if row.verdict_k is not None)
    return {f"votes/{k}": count / passes.total() for k, count in sorted(passes.items())}


def _rewards_by_group(rows: Iterable[Row]) -> list[list[float]]:
    groups = ([row.reward for row in group if row.reward is not None] for group in groups_of(rows).values())
    return [group for group in groups if group]


def _silent(groups: Sequence[Sequence[float]]) -> float:
    return fmean(max(group) == min(group) for group in groups)


def _bucket(share: float) -> str:
    if share in (0, 1):
        return "01"[int(share)]
    return BUCKETS[1 + min(3, int(share * 4))] if share * 4 % 1 else BUCKETS[int(share * 4)]
