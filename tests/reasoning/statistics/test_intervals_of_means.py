"""Intervals of measures: by whole problems, never certain, and undefined for too few problems."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.statistics.intervals import Interval, Undefined, studentised
from apps.reasoning.statistics.means import interval
from apps.reasoning.statistics.metrics import Measure, average, pass_at_k, share_of_points
from tests.reasoning.statistics.tables import drawn, mean, scores


def ends(measure: Measure | Undefined) -> Interval:
    assert isinstance(measure, Measure)
    found = interval(measure)
    assert isinstance(found, Interval)
    return found


def width(found: Interval) -> float:
    return found.high - found.low


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_table_that_is_all_solved_or_all_unsolved_is_not_certain(share: float) -> None:
    found = ends(average(scores(np.full((6, 4), share))))
    assert width(found) > 0.4
    assert found.low <= share <= found.high
    assert width(ends(average(scores(np.full((60, 4), share))))) < 0.1


def test_below_five_problems_there_is_no_interval() -> None:
    assert isinstance(interval(mean(drawn(4))), Undefined)
    assert isinstance(interval(mean(drawn(5))), Interval)


def test_repeats_that_always_agree_add_nothing() -> None:
    one = np.random.default_rng(2).integers(0, 2, (30, 1))
    assert ends(average(scores(np.repeat(one, 8, axis=1)))) == ends(average(scores(one)))


def test_repeats_that_vary_inside_problems_make_it_narrower() -> None:
    cells = np.random.default_rng(2).integers(0, 2, (30, 8))
    assert width(ends(average(scores(cells)))) < 0.6 * width(ends(average(scores(cells[:, :1]))))


def test_equal_problems_of_medium_score_count_once_each() -> None:
    equal = ends(average(scores(np.full((20, 4), 0.5))))
    assert width(equal) == pytest.approx(width(ends(average(scores([[0.0]] * 10 + [[1.0]] * 10)))), rel=0.05)


def test_with_many_problems_it_is_the_usual_interval() -> None:
    table = drawn(3_000, total=7)
    problems = table.shares.mean(axis=1)
    found = ends(average(table))
    assert width(found) == pytest.approx(2 * 1.96 * problems.std(ddof=1) / np.sqrt(3_000), rel=0.01)
    assert (found.low + found.high) / 2 == pytest.approx(problems.mean(), abs=0.001)


def test_equal_totals_change_no_interval() -> None:
    table = drawn(12, total=7)
    assert ends(share_of_points(table)) == ends(average(table))


def test_an_amount_has_a_studentised_interval_on_the_logarithm() -> None:
    cells = np.random.default_rng(1).lognormal(9, 1, (12, 4))
    problems = cells.mean(axis=1)
    without = (problems.sum() - problems) / 11
    assert ends(average(scores(cells, total=None))) == studentised(problems.mean(), without, "size")


@given(st.integers(5, 40), st.integers(0, 1_000), st.integers(1, 4))
def test_the_interval_lies_in_0_to_1_and_holds_the_value(problems: int, seed: int, k: int) -> None:
    measure = pass_at_k(drawn(problems, seed=seed), k)
    assert isinstance(measure, Measure)
    found = ends(measure)
    assert 0 <= found.low <= measure.value + 1e-12
    assert measure.value - 1e-12 <= found.high <= 1


@given(st.integers(5, 30), st.integers(0, 1_000))
def test_failures_have_the_mirrored_interval(problems: int, seed: int) -> None:
    table = drawn(problems, seed=seed)
    found, failures = ends(average(table)), ends(average(scores(1 - table.cells)))
    assert (found.low, found.high) == pytest.approx((1 - failures.high, 1 - failures.low))
