"""Means, pass@k, shares and false accepts, each by problem, and why one has no value."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.statistics.intervals import Undefined
from apps.reasoning.statistics.metrics import (
    Measure,
    average,
    false_accept_rate,
    pass_at_k,
    share_of_points,
    share_reaching,
)
from tests.reasoning.statistics.tables import NAN, scores

ROWS = st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=4), min_size=1, max_size=6)


def value(found: Measure | Undefined) -> float:
    assert isinstance(found, Measure)
    return found.value


def test_problems_weigh_the_same_in_a_mean_however_many_repeats_are_scored() -> None:
    assert value(average(scores([[7.0, NAN, NAN], [0.0, 0.0, 0.0]], total=7))) == 0.5


def test_an_unscored_repeat_is_not_a_zero() -> None:
    assert value(average(scores([[1, NAN]]))) == 1


def test_a_metric_with_too_few_scored_repeats_says_how_many_problems_are_short() -> None:
    table = scores([[1, 1, NAN], [NAN, NAN, NAN], [1, 0, 1]])
    assert average(table) == Undefined(reason="1 of 3 problems has fewer than 1 scored repeat")
    assert average(table, 3) == Undefined(reason="2 of 3 problems have fewer than 3 scored repeats")
    assert pass_at_k(table, 2) == Undefined(reason="1 of 3 problems has fewer than 2 scored repeats")
    assert average(scores(np.empty((0, 4)))) == Undefined(reason="there are no problems")
    with pytest.raises(ValueError, match="at least one repeat"):
        pass_at_k(table, 0)


def test_pass_at_k_is_that_of_chen() -> None:
    found = pass_at_k(scores([[1, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]]), 2)
    assert isinstance(found, Measure)
    assert found.values.tolist() == [0.5, 1, 0]
    assert found.trials.tolist() == [2, 2, 2]


@given(ROWS, st.integers(1, 4))
def test_pass_at_k_is_the_mean_over_all_subsets(rows: list[list[float]], k: int) -> None:
    subsets = [[max(subset) for subset in combinations(row, k)] for row in rows]
    assert value(pass_at_k(scores(rows), k)) == pytest.approx(np.mean([np.mean(one) for one in subsets]))


@given(ROWS)
def test_pass_at_1_is_the_mean_and_pass_at_k_never_falls(rows: list[list[float]]) -> None:
    found = [value(pass_at_k(scores(rows), k)) for k in (1, 2, 3, 4)]
    assert found[0] == pytest.approx(value(average(scores(rows))))
    assert all(later >= earlier - 1e-12 for earlier, later in pairwise(found))


def test_points_count_as_solved_from_a_share_on() -> None:
    table = scores([[7, 6, 0, 0]], total=7)
    assert value(share_reaching(table)) == 0.25
    assert value(share_reaching(table, 6 / 7)) == 0.5
    assert value(pass_at_k(table, 1, share=6 / 7)) == 0.5


def test_the_share_of_points_weighs_problems_by_their_totals() -> None:
    assert value(share_of_points(scores([[8, 8], [0, 0]], total=[8, 16]))) == pytest.approx(8 / 24)
    with pytest.raises(ValueError, match="amounts have no total"):
        share_of_points(scores([[5.0]], total=None))


def test_false_accepts_are_counted_among_known_wrong_repeats_only() -> None:
    accepted = scores([[1, 1, 0], [1, NAN, 0], [1, 1, 1]])
    truth = scores([[0, 1, 0], [NAN, 0, 0], [1, 1, 1]])
    found = false_accept_rate(accepted, truth)
    assert value(found) == pytest.approx(1 / 3)
    assert isinstance(found, Measure)
    assert found.weights.tolist() == [2, 1, 0]
    assert false_accept_rate(accepted, scores(np.ones((3, 3)))) == Undefined(
        reason="no repeat with a decision is known to be wrong"
    )
    with pytest.raises(ValueError, match="the same problems"):
        false_accept_rate(accepted, scores([[1, 1]]))
