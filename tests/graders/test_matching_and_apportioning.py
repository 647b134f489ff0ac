"""Numbers that are computed and not believed: prefixes, subsequences, points proportional to approachability."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.graders.matching import MatchingSaid, SameSaid, best_match, common_prefix, common_subsequence
from apps.reasoning.graders.pieces import apportioned


@pytest.mark.parametrize(
    ("first", "second", "prefix", "common"),
    [
        ([], [1], 0, 0),
        ([1, 2, 3], [1, 2, 3], 3, 3),
        ([1, 3, 2], [1, 2, 3], 1, 2),
        ([2, 1], [1, 2], 0, 1),
        ([0, 2], [1, 2], 0, 1),
    ],
)
def test_prefix_and_subsequence_of_steps(first: list[int], second: list[int], prefix: int, common: int) -> None:
    assert (common_prefix(first, second), common_subsequence(first, second)) == (prefix, common)


@given(st.lists(st.integers(0, 4), max_size=6), st.lists(st.integers(0, 4), max_size=6))
def test_a_subsequence_is_symmetric_and_at_least_the_prefix(first: list[int], second: list[int]) -> None:
    assert common_subsequence(first, second) == common_subsequence(second, first)
    assert common_prefix(first, second) <= common_subsequence(first, second) <= min(len(first), len(second))


def test_the_prefix_decides_then_the_subsequence_then_the_order() -> None:
    steps = ("a", "b", "c")
    same = (
        SameSaid(step=1, cluster="C3", other=1),
        SameSaid(step=2, cluster="C2", other=1),
        SameSaid(step=3, cluster="C2", other=2),
    )
    counts = {"C1": 2, "C2": 2, "C3": 2}
    assert best_match(MatchingSaid(steps=steps, same=same), counts).cluster == "C3"
    assert best_match(MatchingSaid(steps=steps, same=same[1:]), counts).cluster == "C2"
    assert best_match(MatchingSaid(steps=steps), counts).cluster == "C1"


@given(st.lists(st.integers(1, 5), min_size=2, max_size=5))
def test_points_by_weight_are_whole_sum_to_seven_and_follow_the_weights(weights: list[int]) -> None:
    points = apportioned(weights)
    assert sum(points) == 7
    assert min(points) >= 1
    for one, other in zip(range(len(weights)), range(1, len(weights)), strict=False):
        if weights[one] > weights[other]:
            assert points[one] >= points[other]
