"""Properties of all tables of points."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.reasoning.agreement.chance import ac2, qwk, scott_pi_weighted
from apps.reasoning.agreement.estimates import FUNCTIONS
from apps.reasoning.agreement.statistics import bias, mae, off_by_one, off_by_two, pearson, rmse, spearman
from apps.reasoning.agreement.table import Table
from tests.agreement.tables import HALVES, WHOLE, by_the_book, one

HALF = st.integers(0, 14).map(lambda halves: halves / 2)
ROWS = st.lists(st.tuples(HALF, HALF), min_size=1, max_size=40)
Rows = list[tuple[float, float]]


def table(rows: Rows) -> Table:
    return Table.of([human for human, _ in rows], [predicted for _, predicted in rows])


def close(left: float, right: float) -> bool:
    return (np.isnan(left) and np.isnan(right)) or abs(left - right) < 1e-9


@given(ROWS)
@settings(deadline=None)
def test_exchanging_the_sides_only_changes_the_sign_of_the_bias(rows: Rows) -> None:
    there, back = table(rows), table([(predicted, human) for human, predicted in rows])
    for of in (qwk, scott_pi_weighted, ac2):
        assert close(one(of(there, HALVES)), one(of(back, HALVES)))
    for plain in (pearson, spearman, mae, rmse):
        assert close(one(plain(there)), one(plain(back)))
    assert close(one(bias(there)), -one(bias(back)))


@given(ROWS)
@settings(deadline=None)
def test_scott_is_never_above_qwk(rows: Rows) -> None:
    qwk_value, scott = one(qwk(table(rows), HALVES)), one(scott_pi_weighted(table(rows), HALVES))
    assert np.isnan(scott) or scott <= qwk_value + 1e-9


@given(ROWS)
@settings(deadline=None)
def test_scott_equals_qwk_if_both_sides_have_the_same_distribution(rows: Rows) -> None:
    both = table(rows + [(predicted, human) for human, predicted in rows])
    assert close(one(qwk(both, HALVES)), one(scott_pi_weighted(both, HALVES)))


@given(ROWS)
@settings(deadline=None)
def test_formulas_from_means_equal_those_from_the_whole_table(rows: Rows) -> None:
    expected = by_the_book([human for human, _ in rows], [predicted for _, predicted in rows], HALVES)
    for of in (qwk, scott_pi_weighted, ac2):
        value = one(of(table(rows), HALVES))
        assert np.isnan(value) or value == pytest.approx(expected[of.__name__], abs=1e-9)


@given(ROWS, st.randoms(use_true_random=False), st.integers(2, 4))
@settings(deadline=None)
def test_order_and_repetition_of_rows_change_nothing(rows: Rows, order: Random, times: int) -> None:
    again = rows * times
    order.shuffle(again)
    for of in FUNCTIONS.values():
        assert close(one(of(table(rows), HALVES)), one(of(table(again), HALVES)))


@given(ROWS)
@settings(deadline=None)
def test_correlations_ignore_shift_and_scaling_and_errors_do_not(rows: Rows) -> None:
    milder = table([(human, predicted / 2 + 3) for human, predicted in rows])
    assert close(one(pearson(table(rows))), one(pearson(milder)))
    assert close(one(spearman(table(rows))), one(spearman(milder)))
    shifted = table([(human, predicted + 1) for human, predicted in rows])
    assert close(one(bias(shifted)), one(bias(table(rows))) + 1)


@given(ROWS)
@settings(deadline=None)
def test_every_value_is_in_its_range(rows: Rows) -> None:
    points = table(rows)
    assert 0 <= abs(one(bias(points))) <= one(mae(points)) + 1e-12 <= one(rmse(points)) + 1e-9 <= 7 + 1e-9
    assert 0 <= one(off_by_one(points)) <= one(off_by_two(points)) <= 1
    for of in (qwk, scott_pi_weighted):
        value = one(of(points, WHOLE))
        assert np.isnan(value) or -1 - 1e-9 <= value <= 1 + 1e-9
    assert one(ac2(points, WHOLE)) <= 1 + 1e-9  # AC2 may be below −1, as markers may disagree more than by Gwet's chance.


@given(ROWS)
@settings(deadline=None)
def test_vectorised_draws_equal_single_draws(rows: Rows) -> None:
    points = table(rows)
    counts = np.vstack([points.counts, points.counts * np.arange(1, len(points.counts) + 1)])
    drawn = Table(points.human, points.predicted, counts)
    for slug, of in FUNCTIONS.items():
        alone = [one(of(Table(points.human, points.predicted, row), HALVES)) for row in counts]
        assert all(close(left, right) for left, right in zip(of(drawn, HALVES).tolist(), alone, strict=True)), slug
