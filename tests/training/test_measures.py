"""What a job reports of its rows."""

import pytest

from tests.training.factory import row
from workers.recipes.trajectory import Trajectory, Turn
from workers.training.measures import measures_of, measures_of_rollouts


def test_groups_fall_into_buckets_by_their_share_of_positive_rewards() -> None:
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
    assert "silent" not in found, "batches cut groups, and recipes have left out the silent ones"


def test_roles_are_reported_apart_where_there_are_several() -> None:
    rows = [row(role="solver", reward=1), row(role="solver", reward=0), row(role="verifier1", reward=0, group_id="h")]
    found = measures_of(rows, version=4)
    assert (found["role/solver/reward"], found["role/verifier1/reward"], found["role/solver/rows"]) == (0.5, 0.0, 2.0)
    assert found["lag"] == 4
    assert not [name for name in measures_of(rows[:2]) if name.startswith("role/")]


def test_what_does_not_apply_is_left_out() -> None:
    found = measures_of([row(reward=None, advantage=None)])
    assert {"reward", "advantage_std", "lag"} & set(found) == set()
    assert measures_of([row(verdict_k=3), row(verdict_k=4)])["votes/3"] == pytest.approx(0.5)


def test_of_rollouts_also_the_groups_count_that_teach_nothing() -> None:
    rewards = {"solved": [1.0, 1.0], "in part": [1.0, 0.1]}
    found = measures_of_rollouts([Trajectory("", problem, [], reward=one) for problem, all_ in rewards.items() for one in all_])
    assert found["reward"] == pytest.approx(0.775)
    assert found["silent"] == 0.5
    assert (found["passrate/1"], found["passrate/50-75"]) == (0.5, 0.5)


def test_turns_that_are_compared_by_themselves_count_by_role_and_group() -> None:
    given = [("solver", "a", 1.0), ("solver", "a", 0.0), ("verifier1", "b", 1.0), ("verifier1", "b", 1.0)]
    turns = [Turn((1,), (2,), role=role, group=group, reward=reward) for role, group, reward in given]
    found = measures_of_rollouts([Trajectory("", "p", turns)])
    assert (found["silent"], found["role/solver/silent"], found["role/verifier1/silent"]) == (0.5, 0, 1)
    assert (found["reward"], found["role/solver/reward"]) == (0.75, 0.5)
