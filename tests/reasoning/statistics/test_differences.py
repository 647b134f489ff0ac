"""Paired differences: by whole problems, with an interval, a test, counts of wins, and Holm's correction."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from apps.reasoning.statistics.differences import Difference, difference, holm
from apps.reasoning.statistics.intervals import Interval, Undefined
from apps.reasoning.statistics.metrics import Measure, false_accept_rate
from apps.reasoning.statistics.scores import Scores
from tests.reasoning.statistics.tables import drawn, mean, scores


def compared(left: Scores, right: Scores, seed: int = 0) -> Difference:
    found = difference(mean(left), mean(right), seed=seed)
    assert isinstance(found, Difference)
    return found


def test_wins_ties_and_losses_are_counted_by_problem() -> None:
    found = compared(scores([[1, 1], [0, 1], [0, 0], [1, 0], [1, 1]]), scores([[0, 0], [1, 0], [0, 1], [1, 0], [0, 1]]))
    assert (found.wins, found.ties, found.losses, found.problems) == (2, 2, 1, 5)
    assert found.value == pytest.approx(0.2)


def test_only_common_problems_are_compared() -> None:
    left = Scores.of(["a", "b", "c"], [[1.0], [1.0], [0.0]])
    right = Scores.of(["c", "a", "x"], [[0.0], [0.0], [1.0]])
    found = compared(left, right)
    assert (found.value, found.problems) == (0.5, 2)
    assert isinstance(found.interval, Undefined)
    assert difference(mean(left), mean(scores([[1.0]], names="other"))) == Undefined(
        reason="the two methods have no common problems"
    )


def test_few_problems_are_tested_exactly_as_scipy_does() -> None:
    left, right = drawn(11, seed=1, total=7), drawn(11, seed=2, total=7)
    apart = left.shares.mean(axis=1) - right.shares.mean(axis=1)
    theirs = stats.permutation_test((apart,), lambda x, axis: x.mean(axis=axis), permutation_type="samples", vectorized=True)
    assert compared(left, right).p_value == pytest.approx(theirs.pvalue)


def test_many_problems_are_tested_by_sampled_flips() -> None:
    left, right = drawn(40, seed=1, total=7), drawn(40, seed=2, total=7)
    apart = left.shares.mean(axis=1) - right.shares.mean(axis=1)
    assert compared(left, right).p_value == pytest.approx(stats.ttest_1samp(apart, 0).pvalue, abs=0.02)
    assert compared(left, right) == compared(left, right)
    assert compared(left, right).p_value != compared(left, right, seed=1).p_value


def test_no_sampled_p_value_is_zero() -> None:
    assert 0 < compared(scores(np.ones((40, 2))), scores(np.zeros((40, 2)))).p_value < 0.001


def test_equal_methods_are_not_certainly_equal() -> None:
    table = drawn(20)
    found = compared(table, table)
    assert (found.value, found.p_value, found.ties) == (0, 1, 20)
    assert isinstance(found.interval, Interval)
    assert found.interval.high == -found.interval.low > 0.05
    assert not found.is_decisive()


def test_five_problems_decide_nothing_and_six_can() -> None:
    assert not compared(scores(np.ones((5, 4))), scores(np.zeros((5, 4)))).is_decisive()
    assert compared(scores(np.ones((6, 4))), scores(np.zeros((6, 4)))).is_decisive()


def test_a_decision_needs_the_p_value_after_holm() -> None:
    found = compared(scores(np.ones((8, 4))), scores(np.zeros((8, 4))))
    assert found.is_decisive()
    assert found.is_decisive(0.05)
    assert not found.is_decisive(0.051)


@given(st.integers(5, 25), st.integers(0, 500))
def test_the_other_direction_is_the_mirror(problems: int, seed: int) -> None:
    one, other = (compared(*pair) for pair in _both(drawn(problems, seed=seed), drawn(problems, seed=seed + 1)))
    assert one.value == pytest.approx(-other.value)
    assert (one.wins, one.losses) == (other.losses, other.wins)
    assert one.p_value == pytest.approx(other.p_value)
    assert isinstance(one.interval, Interval)
    assert isinstance(other.interval, Interval)
    assert (one.interval.low, one.interval.high) == pytest.approx((-other.interval.high, -other.interval.low))


def _both(left: Scores, right: Scores) -> tuple[tuple[Scores, Scores], tuple[Scores, Scores]]:
    return (left, right), (right, left)


def test_rates_with_different_numbers_of_cells_are_tested_by_swapping_both() -> None:
    rng = np.random.default_rng(4)
    sides = [
        false_accept_rate(scores(rng.integers(0, 2, (7, 3))), scores(rng.integers(0, 2, (7, 3)))),
        false_accept_rate(scores(rng.integers(0, 2, (7, 3))), scores(rng.integers(0, 2, (7, 3)))),
    ]
    left, right = (one for one in sides if isinstance(one, Measure))
    found = difference(left, right)
    assert isinstance(found, Difference)
    kept = (left.weights > 0) & (right.weights > 0)
    cells = [(one.values[kept] * one.weights[kept], one.weights[kept]) for one in (left, right)]

    def apart(flips: tuple[int, ...]) -> float:
        rates = []
        for side in (0, 1):
            taken = [(cells[flip ^ side][0][row], cells[flip ^ side][1][row]) for row, flip in enumerate(flips)]
            rates.append(sum(one for one, _ in taken) / sum(one for _, one in taken))
        return float(rates[0] - rates[1])

    every = [apart(flips) for flips in product((0, 1), repeat=int(kept.sum()))]
    assert found.value == pytest.approx(every[0])
    assert found.p_value == pytest.approx(np.mean(np.abs(every) >= abs(every[0]) - 1e-9))


def test_amounts_are_compared_without_a_detectable_difference_and_never_with_shares() -> None:
    amounts = [mean(scores(np.random.default_rng(seed).lognormal(9, 0.5, (12, 4)), total=None)) for seed in (1, 2)]
    found = difference(*amounts)
    assert isinstance(found, Difference)
    assert isinstance(found.interval, Interval)
    assert isinstance(found.detectable, Undefined)
    with pytest.raises(ValueError, match="a share and an amount"):
        difference(amounts[0], mean(drawn(12)))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= after <= 1 for p, after in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()
    assert adjusted[order[0]] == min(1, len(p_values) * p_values[order[0]])
