"""The smallest detectable difference, the problems needed for one, and where their variances come from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.reasoning.statistics.intervals import Undefined
from apps.reasoning.statistics.power import Components, components, guessed, problems_needed, smallest_detectable
from tests.reasoning.statistics.tables import NAN, drawn, scores


def test_components_are_those_that_the_scores_were_drawn_with() -> None:
    rng = np.random.default_rng(3)
    left = rng.uniform(0.3, 0.7, 20_000)
    right = left + rng.normal(0, 0.05, len(left))
    found = components(*(scores(rng.binomial(1, np.clip(one, 0, 1)[:, None], (len(left), 4))) for one in (left, right)))
    assert isinstance(found, Components)
    assert found.between == pytest.approx(0.05**2, abs=0.003)
    assert found.within == pytest.approx(2 * (0.25 - 0.4**2 / 12), abs=0.01)


def test_noise_alone_gives_no_negative_variance() -> None:
    rng = np.random.default_rng(1)
    found = components(*(scores(rng.integers(0, 2, (8, 4))) for _ in range(2)))
    assert isinstance(found, Components)
    assert found.between >= 0


def test_components_need_two_repeats_and_five_common_problems() -> None:
    assert components(drawn(10, repeats=1), drawn(10, repeats=1)) == Undefined(reason="no problem has two scored repeats")
    assert isinstance(components(drawn(4), drawn(10)), Undefined)
    unscored = scores([[NAN, NAN]] * 6 + [[1, 0]] * 4)
    assert isinstance(components(unscored, drawn(10)), Undefined)


def test_a_guess_has_the_variance_of_its_rate() -> None:
    found = guessed(0.5, problems_share=0.6, correlation=1)
    assert found.between == 0
    assert found.within == pytest.approx(2 * 0.25 * 0.4)
    assert guessed(0.5, correlation=0).between == pytest.approx(2 * 0.25 * 0.6)


def test_too_few_problems_show_nothing() -> None:
    assert smallest_detectable(0.1, 5) == Undefined(reason="5 problems are too few for a test at 5 %")
    assert isinstance(smallest_detectable(0.1, 6), float)
    assert smallest_detectable(0.1, 8, comparisons=11) == Undefined(
        reason="8 problems are too few for a test of 11 comparisons at 5 %"
    )
    assert isinstance(smallest_detectable(0.1, 9, comparisons=11), float)


@given(st.floats(0.001, 0.5), st.integers(9, 300))
def test_more_problems_and_less_spread_show_smaller_differences(spread: float, problems: int) -> None:
    smallest = smallest_detectable(spread, problems)
    for other in (smallest_detectable(spread, problems + 1), smallest_detectable(spread / 2, problems)):
        assert isinstance(other, float)
        assert isinstance(smallest, float)
        assert other < smallest


@given(st.floats(0.001, 0.5), st.floats(0.03, 0.9))
def test_the_problems_needed_are_the_fewest_that_suffice(spread: float, apart: float) -> None:
    needed = problems_needed(spread, apart)
    assert isinstance(needed, int)
    shown, less = smallest_detectable(spread, needed), smallest_detectable(spread, needed - 1)
    assert isinstance(shown, float)
    assert shown <= apart
    assert isinstance(less, Undefined) or less > apart


@pytest.mark.parametrize("apart", [0.0, -0.1, 1e-5])
def test_no_number_of_problems_shows_nearly_nothing(apart: float) -> None:
    assert problems_needed(0.2, apart) == Undefined(reason="more than 100,000 problems would be needed")
