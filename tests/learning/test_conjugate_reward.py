"""The conjugate reward: the table computed by hand, properties for every n, and errors."""

from fractions import Fraction
from itertools import pairwise
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.conjugate_reward import conjugate_reward, dominance, group_conjugate_rewards, highest_reward

TABLE = [
    (0, Fraction(1, 2), 0.0, 0.0),
    (1, Fraction(7, 9), 1.252763, 0.5555556),
    (2, Fraction(11, 12), 2.397895, 0.8333333),
    (3, Fraction(41, 42), 3.713572, 0.9523810),
    (4, Fraction(251, 252), 5.525453, 0.9920635),
]


@pytest.mark.parametrize(("passes", "share", "odds", "centred"), TABLE)
def test_four_votes_give_the_rewards_of_the_table(passes: int, share: Fraction, odds: float, centred: float) -> None:
    assert dominance(passes, 4) == share
    assert conjugate_reward(passes) == pytest.approx(odds, abs=1e-6)
    assert conjugate_reward(passes, form="prob") == pytest.approx(float(share), abs=1e-6)
    assert conjugate_reward(passes, form="centred") == pytest.approx(centred, abs=1e-6)
    assert conjugate_reward(passes, form="unit") == pytest.approx(odds / 5.525453, abs=1e-6)


@pytest.mark.parametrize(("votes", "highest"), [(1, 1.6094379), (2, 2.9444390), (3, 4.2341065), (4, 5.5254529), (8, 10.7918)])
def test_the_highest_reward_grows_with_the_votes(votes: int, highest: float) -> None:
    assert highest_reward(votes) == pytest.approx(highest, abs=1e-6 if votes < 8 else 5e-5)


def test_a_wrong_final_answer_has_reward_0_whatever_the_votes() -> None:
    assert conjugate_reward(4, answer_ok=False) == 0
    assert conjugate_reward(4, answer_ok=True) == conjugate_reward(4) == pytest.approx(log(251))


@given(st.integers(1, 64))
def test_rewards_start_at_0_and_increase_with_every_pass(votes: int) -> None:
    rewards = [conjugate_reward(passes, votes) for passes in range(votes + 1)]
    assert rewards[0] == 0
    assert all(low < high for low, high in pairwise(rewards))
    assert rewards[-1] == highest_reward(votes)
    assert conjugate_reward(votes, votes, form="unit") == 1


@given(st.integers(1, 12), st.data())
def test_the_closed_form_is_the_integral_of_equation_8(votes: int, data: st.DataObject) -> None:
    """P(p1 > p0) = 1 − E[(1 − p1)^{n+1}], where the mean is a ratio of Beta functions."""
    passes = data.draw(st.integers(0, votes))
    shortfall = Fraction(1)
    for step in range(votes + 1):
        shortfall *= Fraction(votes - passes + 1 + step, votes + 2 + step)
    assert dominance(passes, votes) == 1 - shortfall


@pytest.mark.parametrize(("passes", "votes"), [(5, 4), (-1, 4), (0, 0)])
def test_impossible_votes_are_rejected(passes: int, votes: int) -> None:
    with pytest.raises(NotLearnable, match="votes"):
        conjugate_reward(passes, votes)


def test_a_group_with_different_numbers_of_votes_is_rejected() -> None:
    assert group_conjugate_rewards([(4, 4), (0, 4)]) == [highest_reward(4), 0.0]
    with pytest.raises(NotLearnable, match=r"4, 8 votes"):
        group_conjugate_rewards([(4, 4), (8, 8)])
