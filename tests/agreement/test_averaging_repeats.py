"""The error of the mean of k repeated gradings, by hand."""

import pytest

from apps.reasoning.agreement.averaging import errors_of_means, sizes


def test_errors_of_means_by_hand() -> None:
    papers = [(3.0, (1.0, 3.0, 5.0)), (7.0, (7.0, 7.0, 7.0))]
    # One: (2 + 0 + 2)/3 and 0. Two: the means 2, 4, 3 have errors 1, 1, 0. Three: the mean is exact.
    assert errors_of_means(papers) == {1: pytest.approx(2 / 3), 2: pytest.approx(1 / 3), 3: 0}


def test_a_bias_is_not_averaged_away() -> None:
    assert errors_of_means([(0.0, (2.0, 2.0))]) == {1: 2, 2: 2}


def test_the_sizes_double_up_to_the_number_of_repeats() -> None:
    assert [sizes(count) for count in (0, 1, 2, 3, 4, 8, 10)] == [
        (), (1,), (1, 2), (1, 2, 3), (1, 2, 4), (1, 2, 4, 8), (1, 2, 4, 8, 10),
    ]  # fmt: skip


def test_papers_need_equal_numbers_of_repeats_and_there_may_be_no_papers() -> None:
    assert errors_of_means([]) == {}
    with pytest.raises(ValueError, match="equally many"):
        errors_of_means([(1.0, (1.0,)), (1.0, (1.0, 2.0))])
