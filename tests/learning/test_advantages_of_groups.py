"""Advantages of groups: every golden number, silent groups, DAPO's penalty, and errors."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.recipes.mathematics.advantages import (
    centred,
    episode_turn_rewards,
    grpo,
    learnable_groups,
    leave_one_out,
    overlong_penalty,
    turn_advantages,
)
from apps.recipes.mathematics.arrays import NotLearnable

REWARDS = st.lists(st.floats(-1, 1), min_size=2, max_size=16)


def test_rloo_compares_with_the_mean_of_the_others() -> None:
    assert leave_one_out([1, -1, -1, -1]) == pytest.approx([2, -2 / 3, -2 / 3, -2 / 3], abs=1e-6)
    found = leave_one_out([1] * 12 + [-1] * 4)
    assert (found[0], found[-1]) == pytest.approx((0.533333, -1.6), abs=1e-6)


def test_grpo_divides_by_the_sample_deviation() -> None:
    assert grpo([1, 0, 0, 1]) == pytest.approx([0.866024, -0.866024, -0.866024, 0.866024], abs=1e-6)
    assert grpo([1, 0, 0, 1], epsilon=1e-4)[0] == pytest.approx(0.865875, abs=1e-6)


def test_rubric_grades_are_centred_and_not_divided() -> None:
    rewards = [grade / 7 for grade in (7, 3, 0, 0)]
    assert centred(rewards) == pytest.approx([0.642857, 0.071429, -0.357143, -0.357143], abs=1e-6)


def test_turns_are_compared_over_trajectories_or_over_rows() -> None:
    turns = [[1.0, 1.0, 1.0], [0.0]]
    rows = turn_advantages(turns, [1, 0], baseline="rows")
    assert [*rows[0], *rows[1]] == pytest.approx([0.5, 0.5, 0.5, -1.5], abs=2e-6 * 1.5)
    paths = turn_advantages(turns, [1, 0])
    assert [*paths[0], *paths[1]] == pytest.approx([0.707107] * 3 + [-0.707107], abs=2e-6)


def test_golden_turns_are_exact_to_one_millionth_without_the_epsilon() -> None:
    rows = turn_advantages([[1.0, 1.0, 1.0], [0.0]], [1, 0], baseline="rows", epsilon=0)
    assert [*rows[0], *rows[1]] == pytest.approx([0.5, 0.5, 0.5, -1.5], abs=1e-6)


def test_an_invalid_action_is_penalised_in_its_turn() -> None:
    turns = episode_turn_rewards([1, 0], [[False, True, False], [False]])
    assert turns == [[1, 0.9, 1], [0]]
    rows = turn_advantages(turns, [1, 0], baseline="rows")
    assert [*rows[0], *rows[1]] == pytest.approx([0.566277, 0.360358, 0.566277, -1.492913], abs=4e-6)


@pytest.mark.parametrize("rewards", [[1.0], [0.3, 0.3, 0.3], [0.0, 0.0]])
def test_a_group_of_one_or_of_equal_rewards_is_silent(rewards: list[float]) -> None:
    for advantages in (leave_one_out(rewards), grpo(rewards), centred(rewards)):
        assert list(advantages) == [0.0] * len(rewards)


@given(REWARDS, st.floats(-2, 2))
def test_advantages_sum_to_0_and_are_invariant_to_a_shift(rewards: list[float], shift: float) -> None:
    shifted = [reward + shift for reward in rewards]
    for rule in (leave_one_out, centred):
        assert rule(rewards).sum() == pytest.approx(0, abs=1e-9)
        assert rule(shifted) == pytest.approx(rule(rewards), abs=1e-9)
    assert grpo(rewards).sum() == pytest.approx(0, abs=1e-6)


@given(REWARDS)
def test_a_permuted_group_has_permuted_advantages(rewards: list[float]) -> None:
    assert grpo(rewards[::-1]) == pytest.approx(grpo(rewards)[::-1], abs=1e-6)


@pytest.mark.parametrize("bad", [nan, inf])
def test_a_reward_that_is_not_finite_is_rejected_with_its_index(bad: float) -> None:
    with pytest.raises(NotLearnable, match=r"at \(1,\)"):
        grpo([0.0, bad])


def test_an_empty_group_and_lists_of_different_length_are_rejected() -> None:
    with pytest.raises(NotLearnable, match="at least one reward"):
        centred([])
    with pytest.raises(NotLearnable, match="2 trajectories of turns, but 1"):
        turn_advantages([[1.0], [0.0]], [1.0])


def test_learnable_groups_are_listed_and_their_absence_is_explained() -> None:
    assert learnable_groups([[1, 1], [0, 1], [0]]) == [1]
    for groups, reason in (
        ([], "no groups"),
        ([[1.0], [0.0]], "single answer"),
        ([[0.0, 0.0]], "No answer has a positive reward"),
        ([[1.0, 1.0], [0.0, 0.0]], "All rewards are equal"),
    ):
        with pytest.raises(NotLearnable, match=reason):
            learnable_groups(groups)


@pytest.mark.parametrize(("length", "penalty"), [(80, 0), (85, -0.25), (90, -0.5), (100, -1), (101, -1)])
def test_long_answers_are_penalised_softly(length: int, penalty: float) -> None:
    assert overlong_penalty(length, limit=100, margin=20) == pytest.approx(penalty, abs=1e-6)


def test_a_margin_wider_than_the_limit_is_rejected() -> None:
    with pytest.raises(NotLearnable, match="margin"):
        overlong_penalty(1, limit=10, margin=11)
