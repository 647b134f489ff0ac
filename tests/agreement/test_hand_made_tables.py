"""All statistics on tables that are small enough to compute by hand."""

from math import isnan, sqrt

import numpy as np
import pytest

from apps.reasoning.agreement.chance import ac2, quadratic_weights, qwk, scott_pi_weighted
from apps.reasoning.agreement.scales import Scale
from apps.reasoning.agreement.statistics import (
    bias,
    exact,
    mae,
    off_by_one,
    off_by_two,
    pearson,
    rmse,
    spearman,
    spread_ratio,
)
from apps.reasoning.agreement.table import Table
from tests.agreement.tables import HALVES, TABLES, WHOLE, by_the_book, one, table


def test_perfect_agreement_has_coefficients_of_one_and_no_error() -> None:
    perfect = table("perfect")
    for statistic in (pearson, spearman, spread_ratio, exact, off_by_one, off_by_two):
        assert one(statistic(perfect)) == pytest.approx(1)
    for statistic in (mae, rmse, bias):
        assert one(statistic(perfect)) == 0
    for beyond in (qwk, scott_pi_weighted, ac2):
        assert one(beyond(perfect, WHOLE)) == pytest.approx(1)


def test_the_statistics_of_reversed_marks() -> None:
    reverse = table("reversed")
    assert one(pearson(reverse)) == pytest.approx(-1)
    assert one(spearman(reverse)) == pytest.approx(-1)
    assert one(qwk(reverse, WHOLE)) == pytest.approx(-1)
    assert one(bias(reverse)) == 0
    assert one(mae(reverse)) == 6
    assert one(rmse(reverse)) == pytest.approx(sqrt((49 + 25 + 25 + 49) / 4))


def test_the_errors_of_a_generous_grader() -> None:
    generous = table("generous")  # d = 1, 0, 2, 5, 1, 0
    assert one(mae(generous)) == pytest.approx(9 / 6)
    assert one(bias(generous)) == pytest.approx(9 / 6)
    assert one(rmse(generous)) == pytest.approx(sqrt(31 / 6))
    assert one(exact(generous)) == pytest.approx(2 / 6)
    assert one(off_by_one(generous)) == pytest.approx(4 / 6)
    assert one(off_by_two(generous)) == pytest.approx(5 / 6)


def test_tied_points_share_their_mean_rank() -> None:
    # Marks 0 0 1 2 6 7 have the ranks 1.5 1.5 3 4 5 6, predictions 1 0 3 7 7 7 the ranks 2 1 3 5 5 5; both means are 3.5.
    above = 2 * 1.5 + 2 * 2.5 + 0.5 * 0.5 + 0.5 * 1.5 + 1.5 * 1.5 + 2.5 * 1.5
    assert one(spearman(table("generous"))) == pytest.approx(above / sqrt(17 * 15.5))


def test_a_constant_side_has_no_correlation_but_other_statistics() -> None:
    constant = table("constant prediction")
    assert isnan(one(pearson(constant)))
    assert isnan(one(spearman(constant)))
    assert one(spread_ratio(constant)) == 0
    assert isnan(one(spread_ratio(Table.of([7, 7, 7], [0, 3, 7]))))
    assert one(qwk(constant, WHOLE)) == pytest.approx(0)
    assert one(bias(constant)) == pytest.approx(11 / 4)


def test_for_identical_points_only_gwets_coefficient_is_defined() -> None:
    same = table("both constant")
    assert isnan(one(qwk(same, WHOLE)))
    assert isnan(one(scott_pi_weighted(same, WHOLE)))
    assert one(ac2(same, WHOLE)) == 1


def test_skewed_marks_lower_kappa_but_not_ac2() -> None:
    skewed = table("skewed")  # 18 of 20 agree; one 0 became 7 and one 7 became 0
    assert one(qwk(skewed, WHOLE)) == pytest.approx(1 - 0.1 / (2 * 0.9 * 0.1))
    assert one(scott_pi_weighted(skewed, WHOLE)) == pytest.approx(1 - 0.1 / (2 * 0.9 * 0.1))
    by_chance = quadratic_weights(8).sum() / 56 * (2 * 0.9 * 0.1)
    assert one(ac2(skewed, WHOLE)) == pytest.approx((0.9 - by_chance) / (1 - by_chance))
    assert one(ac2(skewed, WHOLE)) > 0.85 > 0.45 > one(qwk(skewed, WHOLE))


def test_half_points_are_separate_categories() -> None:
    human, predicted = TABLES["half points"]
    assert HALVES.size == 15
    found = {"qwk": one(qwk(table("half points"), HALVES)), "ac2": one(ac2(table("half points"), HALVES))}
    expected = by_the_book(human, predicted, HALVES)
    assert found == pytest.approx({name: expected[name] for name in found})
    assert one(exact(table("half points"))) == pytest.approx(2 / 5)


def test_half_points_are_rounded_up_to_whole_points() -> None:
    assert WHOLE.rounded(np.array([0.5, 3.49, 3.5, 6.5, 7.0])).tolist() == [1, 3, 4, 7, 7]
    human, predicted = TABLES["half points"]
    expected = by_the_book([0, 1, 4, 7, 7], [0, 1, 3, 7, 7], WHOLE)
    assert one(qwk(Table.of(human, predicted), WHOLE)) == pytest.approx(expected["qwk"])


def test_a_single_pair_has_errors_but_no_correlation() -> None:
    single = table("one pair")
    assert (one(mae(single)), one(rmse(single)), one(bias(single))) == (2, 2, 2)
    assert (one(off_by_one(single)), one(off_by_two(single))) == (0, 1)
    assert isnan(one(pearson(single)))
    assert isnan(one(spread_ratio(single)))


def test_the_weights_decrease_with_the_square_of_the_distance() -> None:
    weights = quadratic_weights(8)
    assert weights[0].tolist() == pytest.approx([1 - d * d / 49 for d in range(8)])
    assert (weights == weights.T).all()


@pytest.mark.parametrize("name", [name for name in TABLES if name != "both constant"])
def test_formulas_from_means_equal_those_from_the_whole_table(name: str) -> None:
    human, predicted = TABLES[name]
    expected = by_the_book(human, predicted, HALVES)
    for of in (qwk, scott_pi_weighted, ac2):
        assert one(of(table(name), HALVES)) == pytest.approx(expected[of.__name__], abs=1e-9)


def test_bands_follow_the_scale() -> None:
    assert WHOLE.bands() == ((0, 0), (1, 2), (3, 5), (6, 7))
    assert HALVES.bands() == ((0, 0.5), (1, 2.5), (3, 5.5), (6, 7))
    assert Scale(highest=10).bands() == ((0, 1), (2, 4), (5, 8), (9, 10))
    assert Scale(highest=1).bands() == ((0, 0), (1, 1))


def test_a_scale_without_whole_steps_is_refused() -> None:
    for wrong in ({"highest": 0}, {"step": 2}, {"step": 0}, {"lowest": 8}):
        with pytest.raises(ValueError, match="whole steps"):
            Scale(**wrong)
