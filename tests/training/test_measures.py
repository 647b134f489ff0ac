"""Metrics of a job's rows and rollouts."""

import pytest

from apps.recipes.trajectory import Trajectory, Turn
from tests.training.factory import row
from workers.training.measuring.measures import measures_of, measures_of_rollouts


def test_groups_are_counted_by_their_mean_reward() -> None:
    groups = {"none": [0, 0], "half": [1, 0], "most": [1, 1, 1, 1, 0], "all": [1, 1]}
    found = measures_of([row(group_id=name, reward=reward) for name, rewards in groups.items() for reward in rewards])
    shares = {name: value for name, value in found.items() if name.startswith("passrate/")}
    assert shares == {
        "passrate/0": 0.25,
        "passrate/0-25": 0,
        "passrate/25-50": 0.25,
        "passrate/50-75": 0,
        "passrate/75-99": 0.25,
        "passrate/1": 0.25,
    }
    assert "silent" not in found, "batches split groups, and recipes drop silent ones"


def test_several_roles_are_reported_separately() -> None:
    rows = [row(role="solver", reward=1), row(role="solver", reward=0), row(role="verifier1", reward=0, group_id="h")]
    found = measures_of(rows, version=4)
    assert (found["role/solver/reward"], found["role/verifier1/reward"], found["role/solver/rows"]) == (0.5, 0.0, 2.0)
    assert found["lag"] == 4
    assert not [name for name in measures_of(rows[:2]) if name.startswith("role/")]


def test_staleness_counts_rows_and_their_own_tokens() -> None:
    long, short = row(completion="123456", policy_version=0), row(completion="12", policy_version=4, loss_mask=[1, 0])
    found = measures_of([long, short], version=5)
    assert found["lag"] == 3
    assert found["lag_tokens"] == pytest.approx((6 * 5 + 1 * 1) / 7)


def test_metrics_that_do_not_apply_are_left_out() -> None:
    found = measures_of([row(reward=None, advantage=None)])
    assert {"reward", "advantage_std", "lag"} & set(found) == set()
    assert measures_of([row(verdict_k=3), row(verdict_k=4)])["votes/3"] == pytest.approx(0.5)


def test_silent_groups_of_rollouts_count() -> None:
    rewards = {"solved": [1.0, 1.0], "in part": [1.0, 0.1]}
    found = measures_of_rollouts([Trajectory("", problem, [], reward=one) for problem, all_ in rewards.items() for one in all_])
    assert found["reward"] == pytest.approx(0.775)
    assert found["silent"] == 0.5
    assert (found["passrate/1"], found["passrate/50-75"]) == (0.5, 0.5)


def test_individually_compared_turns_count_by_role_and_group() -> None:
    given = [("solver", "a", 1.0), ("solver", "a", 0.0), ("verifier1", "b", 1.0), ("verifier1", "b", 1.0)]
    turns = [Turn((1,), (2,), role=role, group=group, reward=reward) for role, group, reward in given]
    found = measures_of_rollouts([Trajectory("", "p", turns)])
    assert (found["silent"], found["role/solver/silent"], found["role/verifier1/silent"]) == (0.5, 0, 1)
    assert (found["reward"], found["role/solver/reward"]) == (0.75, 0.5)
