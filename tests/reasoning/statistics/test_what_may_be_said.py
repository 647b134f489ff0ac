"""The sentence of a comparison names the better method only where the interval and the corrected test agree."""

import numpy as np

from apps.reasoning.statistics.differences import Difference, difference, sentence
from apps.reasoning.statistics.intervals import Interval, Undefined
from tests.reasoning.statistics.tables import drawn, mean, scores

BETTER = Difference(
    value=0.061,
    interval=Interval(low=0.012, high=0.114),
    p_value=0.01,
    wins=20,
    ties=12,
    losses=8,
    detectable=0.0831,
)


def test_a_decisive_difference_names_the_better_method() -> None:
    assert sentence(BETTER, "A", "B") == "A is better by 6.1 points (1.2 to 11.4)."


def test_the_better_method_may_be_the_right_one() -> None:
    worse = BETTER.model_copy(update={"value": -0.061, "interval": Interval(low=-0.114, high=-0.012)})
    assert sentence(worse, "A", "B") == "B is better by 6.1 points (1.2 to 11.4)."


def test_points_can_be_those_of_a_contest() -> None:
    assert sentence(BETTER, "A", "B", scale=42, unit="points of 42") == "A is better by 2.6 points of 42 (0.5 to 4.8)."


def test_after_holm_it_may_not_be_decisive() -> None:
    assert sentence(BETTER, "A", "B", adjusted=0.11) == "Not decisive: 40 problems can show differences from 9 points."


def test_an_interval_with_0_is_not_decisive_whatever_the_p_value() -> None:
    wide = BETTER.model_copy(update={"interval": Interval(low=-0.001, high=0.114)})
    assert sentence(wide, "A", "B").startswith("Not decisive: 40 problems")


def test_too_few_problems_are_said() -> None:
    found = difference(mean(scores(np.ones((5, 4)))), mean(scores(np.zeros((5, 4)))))
    assert sentence(found, "A", "B") == "Not decisive: 5 problems are too few for a test at 5 %."
    assert sentence(Undefined(reason="the two methods have no common problems"), "A", "B") == (
        "Not decisive: the two methods have no common problems."
    )


def test_a_family_of_comparisons_raises_what_can_be_shown() -> None:
    sides = mean(drawn(20, seed=1)), mean(drawn(20, seed=2))
    alone, family = difference(*sides), difference(*sides, comparisons=66)
    assert isinstance(alone, Difference)
    assert isinstance(family, Difference)
    assert isinstance(alone.detectable, float)
    assert isinstance(family.detectable, float)
    assert family.detectable > alone.detectable
    few = difference(mean(drawn(8, seed=1)), mean(drawn(8, seed=2)), comparisons=11)
    assert sentence(few, "A", "B") == "Not decisive: 8 problems are too few for a test of 11 comparisons at 5 %."
