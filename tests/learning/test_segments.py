"""Answers decoded in segments: carried over, cut off at the cap, completed as groups, dropped when too old."""

import pytest

from apps.recipes.mathematics.arrays import NotLearnable
from apps.recipes.mathematics.segments import PartialGroup, Segments

SHORT = Segments(tokens=2, most=2)


def group() -> PartialGroup:
    """Two answers: the first ends in its first segment, the second reaches the cap in its second."""
    made = PartialGroup(2, SHORT)
    made.extend(0, [7], [-0.1], version=3, finished=True)
    made.extend(1, [8, 9], [-0.2, -0.3], version=3, finished=False)
    return made


def test_an_unfinished_answer_is_carried_over_and_its_group_is_incomplete() -> None:
    made = group()
    assert made.open() == [1]
    assert not made.complete
    with pytest.raises(NotLearnable, match="1 answers of the group are not done"):
        made.rewards([1.0, 1.0])
    made.extend(1, [10], [-0.4], version=4, finished=True)
    assert made.rewards([1.0, 0.5]) == [1.0, 0.5]
    assert made.answers[1].tokens == [8, 9, 10]
    assert made.answers[1].versions == [3, 3, 4]


def test_an_answer_at_the_cap_is_cut_off_and_has_reward_0() -> None:
    made = group()
    made.extend(1, [10, 11], [-0.4, -0.5], version=4, finished=False)
    assert made.answers[1].cut_off
    assert made.rewards([1.0, 1.0]) == [1.0, 0.0]


def test_an_answer_that_ends_with_its_last_token_is_not_cut_off() -> None:
    made = group()
    made.extend(1, [10, 11], [-0.4, -0.5], version=4, finished=True)
    assert made.rewards([1.0, 1.0]) == [1.0, 1.0]


def test_the_lag_is_that_of_the_oldest_token() -> None:
    assert group().lag(9) == 6


def test_invalid_segments_are_rejected() -> None:
    made = group()
    with pytest.raises(NotLearnable, match="is done"):
        made.extend(0, [1], [0.0], version=4, finished=True)
    with pytest.raises(NotLearnable, match="1 tokens, but 0 log-probabilities"):
        made.extend(1, [1], [], version=4, finished=True)
    with pytest.raises(NotLearnable, match="2 are allowed"):
        made.extend(1, [1, 2, 3], [0.0] * 3, version=4, finished=True)
    with pytest.raises(NotLearnable, match="at least one answer"):
        PartialGroup(0, SHORT)
