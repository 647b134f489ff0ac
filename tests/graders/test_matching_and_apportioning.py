"""Numbers that are computed and not believed: prefixes, subsequences, points proportional to approachability."""

from fractions import Fraction
from itertools import permutations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.graders.pieces.matching import MatchingSaid, SameSaid, best_match, common_prefix, common_subsequence
from apps.reasoning.graders.pieces.pieces import apportioned


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


#: All weights of 2 to 5 main steps, each from 1 to 5.
SMALL = [weights for count in range(2, 6) for weights in product(range(1, 6), repeat=count)]


def test_points_of_every_small_vector_of_weights_are_whole_sum_to_seven_and_follow_the_weights() -> None:
    for weights in SMALL:
        points = apportioned(weights)
        assert sum(points) == 7
        assert min(points) >= 1
        for one, other in permutations(range(len(weights)), 2):
            assert weights[one] <= weights[other] or points[one] >= points[other], weights
            assert weights[one] != weights[other] or points[one] >= points[other] or one > other, "of equals the earlier"


def test_weights_that_are_proportional_to_whole_points_get_exactly_these() -> None:
    exact = [weights for weights in SMALL if all(7 * weight % sum(weights) == 0 for weight in weights)]
    assert len(exact) == 68
    for weights in exact:
        assert apportioned(weights) == tuple(7 * weight // sum(weights) for weight in weights), weights


def test_points_are_within_one_of_their_quota_unless_the_minimum_takes_some() -> None:
    for weights in SMALL:
        quotas = [Fraction(7 * weight, sum(weights)) for weight in weights]
        if min(quotas) >= 1:
            assert all(abs(share - quota) < 1 for share, quota in zip(apportioned(weights), quotas, strict=True)), weights


@pytest.mark.parametrize(
    ("weights", "points"),
    [((5, 1, 1), (5, 1, 1)), ((5, 5, 1), (3, 3, 1)), ((1, 1), (4, 3)), ((1, 1, 1, 1, 5), (1, 1, 1, 1, 3))],
)
def test_points_by_weight_by_hand(weights: tuple[int, ...], points: tuple[int, ...]) -> None:
    assert apportioned(weights) == points
