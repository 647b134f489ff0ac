"""All statistics on tables that are small enough to compute by hand."""

from inspect import isfunction, signature
from math import isnan, sqrt
from pathlib import Path

import numpy as np
import pytest

from apps.reasoning.agreement import chance, statistics
from apps.reasoning.agreement.chance import ac2, quadratic_weights, qwk, scott_pi_weighted
from apps.reasoning.agreement.estimates import FUNCTIONS, STATISTICS, Best, Statistic
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

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/agreement.md"

#: Every statistic of the table "generous": d = 1, 0, 2, 5, 1, 0; six pairs, whose marks add up to 16 and predictions to 25.
BY_HAND = {
    "exact": 2 / 6,
    "off_by_one": 4 / 6,
    "off_by_two": 5 / 6,
    "bias": 9 / 6,
    "mae": 9 / 6,
    "rmse": sqrt(31 / 6),
    "qwk": 1 - 31 / (90 + 157 - 2 * 16 * 25 / 6),
    "scott_pi_weighted": 1 - 31 / (90 + 157 - 41**2 / 12),
    # The weights of the 8 × 8 table add up to 64 − 672/49; of twelve points, 3 are 0, 2 are 1, 4 are 7, and 2, 3, 6 occur once.
    "ac2": 1 - (31 / 6 / 49) / (1 - (64 - 672 / 49) / 56 * (1 - 32 / 144)),
    "pearson": (108 - 16 * 25 / 6) / sqrt((90 - 16**2 / 6) * (157 - 25**2 / 6)),
    # Marks 0 0 1 2 6 7 have the ranks 1.5 1.5 3 4 5 6, predictions 1 0 3 7 7 7 the ranks 2 1 3 5 5 5; both means are 3.5.
    "spearman": (2 * 1.5 + 2 * 2.5 + 0.5 * 0.5 + 0.5 * 1.5 + 1.5 * 1.5 + 2.5 * 1.5) / sqrt(17 * 15.5),
    "spread_ratio": sqrt((157 - 25**2 / 6) / (90 - 16**2 / 6)),
}
BEST = {Best.HIGH: 1, Best.ONE: 1, Best.LOW: 0, Best.ZERO: 0}


@pytest.mark.parametrize("slug", FUNCTIONS)
def test_every_statistic_has_the_value_computed_by_hand(slug: str) -> None:
    assert slug in BY_HAND, f"add the value of {slug} to BY_HAND"
    assert one(FUNCTIONS[slug](table("generous"), WHOLE)) == pytest.approx(BY_HAND[slug])


@pytest.mark.parametrize("statistic", [each for each in STATISTICS if each.of], ids=lambda each: each.slug)
def test_perfect_agreement_gives_every_statistic_its_best_value(statistic: Statistic) -> None:
    assert one(FUNCTIONS[statistic.slug](table("perfect"), WHOLE)) == pytest.approx(BEST[statistic.best])


def test_every_public_function_of_a_table_is_a_statistic() -> None:
    written = {
        name
        for module in (statistics, chance)
        for name, of in vars(module).items()
        if isfunction(of) and of.__module__ == module.__name__ and name[0] != "_" and "table" in signature(of).parameters
    }
    assert written - set(FUNCTIONS) == set(), "add a row to STATISTICS in apps/reasoning/agreement/estimates.py"


def test_every_statistic_is_explained_in_the_documents() -> None:
    explained = DOCUMENT.read_text().partition("## The statistics")[2].partition("### Intervals")[0].lower()
    missing = [each.title for each in STATISTICS if each.title.lower() not in explained]
    assert missing == [], "add a row to the section “The statistics” of docs/agreement.md"


def test_the_statistics_of_reversed_marks() -> None:
    reverse = table("reversed")
    assert one(pearson(reverse)) == pytest.approx(-1)
    assert one(spearman(reverse)) == pytest.approx(-1)
    assert one(qwk(reverse, WHOLE)) == pytest.approx(-1)
    assert one(bias(reverse)) == 0
    assert one(mae(reverse)) == 6
    assert one(rmse(reverse)) == pytest.approx(sqrt((49 + 25 + 25 + 49) / 4))


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
