"""The ratio of two alternately measured values: its geometric mean with the ends of its interval."""

import math

import pytest

from benchmarks.closing import interval


def test_the_interval_is_that_of_the_logarithms_by_students_t() -> None:
    low, middle, high = interval([math.log(1.0), math.log(1.1), math.log(1.21)])
    assert middle == pytest.approx(1.1)
    half = 4.30 * math.log(1.1) / math.sqrt(3)
    assert [low, high] == pytest.approx([1.1 * math.exp(-half), 1.1 * math.exp(half)])


def test_equal_pairs_give_an_interval_of_width_0() -> None:
    assert interval([math.log(1.05)] * 4) == pytest.approx((1.05, 1.05, 1.05))
