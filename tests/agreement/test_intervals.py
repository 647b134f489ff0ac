"""Intervals over problems: studentised for few problems, bootstrapped for many, undefined if meaningless."""

from random import Random

import numpy as np
import pytest
from scipy import stats

from apps.reasoning.agreement import table as tables
from apps.reasoning.agreement.pairs import Pair, Sorted
from apps.reasoning.agreement.report import agree, as_good
from apps.reasoning.agreement.statistics import rmse
from apps.reasoning.agreement.table import Sample
from apps.reasoning.statistics.intervals import Interval, Undefined, percentile, student_t, studentised
from tests.agreement.tables import pairs_of


def noisy(count: int, problems: int = 0, seed: int = 1, wrong: float = 0.3) -> list[Pair]:
    random = Random(seed)
    human = [float(random.choice((0, 0, 1, 6, 7, 7))) for _ in range(count)]
    predicted: list[float | None] = [float(random.randrange(8)) if random.random() < wrong else mark for mark in human]
    return pairs_of(human, predicted, problems)


def interval(pairs: list[Pair], slug: str = "mae", draws: int = 400, seed: int = 0) -> Interval:
    found = agree(pairs, draws=draws, seed=seed).estimate(slug).interval
    assert isinstance(found, Interval)
    return found


def width(found: Interval) -> float:
    return found.high - found.low


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    assert interval(noisy(60)) == interval(noisy(60))
    assert interval(noisy(60), seed=1) != interval(noisy(60))


@pytest.mark.parametrize("problems", [0, 7])
def test_the_order_of_the_rows_changes_no_interval(problems: int) -> None:
    pairs = noisy(70, problems)
    shuffled = pairs.copy()
    Random(5).shuffle(shuffled)
    assert agree(shuffled, draws=100).estimates == agree(pairs, draws=100).estimates


def test_draws_in_batches_give_the_same_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = interval(noisy(60, 6))
    monkeypatch.setattr(tables, "NUMBERS_AT_ONCE", 600)
    assert interval(noisy(60, 6)) == whole


def test_an_interval_shrinks_with_the_root_of_the_number_of_papers() -> None:
    assert width(interval(noisy(1600))) == pytest.approx(width(interval(noisy(100))) / 4, rel=0.35)


def test_the_interval_of_a_mean_has_the_theoretical_width() -> None:
    pairs = noisy(400)
    errors = np.array([abs(pair.predicted - pair.human) for pair in pairs])  # type: ignore[operator]
    expected = 2 * 1.96 * errors.std() / np.sqrt(len(errors))
    assert width(interval(pairs, draws=2000)) == pytest.approx(expected, rel=0.08)


def test_correlated_errors_within_problems_make_the_interval_wider() -> None:
    human = [7.0] * 200
    predicted: list[float | None] = [0.0 if number % 10 < 2 else 7.0 for number in range(200)]
    alone = interval(pairs_of(human, predicted))
    clustered = interval(pairs_of(human, predicted, problems=10))
    assert width(clustered) > 2 * width(alone)


def test_papers_without_a_problem_are_single_clusters() -> None:
    pairs = [
        pair.model_copy(update={"problem": ""}) if number % 2 else pair for number, pair in enumerate(noisy(80, problems=4))
    ]
    assert Sample.of(Sorted.of(pairs).scored).clusters == 40 + 2
    shuffled = pairs.copy()
    Random(5).shuffle(shuffled)
    assert agree(shuffled, draws=100).estimates == agree(pairs, draws=100).estimates
    named = [pair for pair in pairs if pair.problem]
    advantage = agree(pairs, draws=0).estimate("advantage_error").value
    assert advantage == pytest.approx(agree(named, draws=0).estimate("advantage_error").value)


def test_without_draws_or_with_two_problems_the_interval_is_undefined_with_the_reason() -> None:
    unasked = agree(noisy(60), draws=0).estimate("mae")
    assert isinstance(unasked.value, float)
    assert unasked.interval == Undefined(reason="no draws were asked for")
    one = agree(noisy(60, problems=2)).estimate("mae").interval
    assert isinstance(one, Undefined)
    assert "only 2 problems" in one.reason


def test_the_correlation_of_a_constant_grader_is_undefined_with_the_reason() -> None:
    constant = agree(pairs_of([0.0, 7.0] * 20, [7.0] * 40), draws=50)
    found = constant.estimate("pearson")
    assert found.value == found.interval == Undefined(reason="one side gives the same points to all")
    assert isinstance(constant.estimate("ac2").value, float)


def test_an_interval_is_undefined_if_many_draws_have_no_value() -> None:
    nearly = [7.0] * 79 + [0.0]  # more than a third of the draws miss the one that differs
    found = agree(pairs_of(nearly, nearly), draws=400).estimate("pearson")
    assert found.value == pytest.approx(1)
    assert isinstance(found.interval, Undefined)
    assert "of 400 draws" in found.interval.reason


def test_below_fifty_problems_an_interval_is_studentised_and_wider_than_the_bootstrap() -> None:
    """The percentile bootstrap of six problems covers far less than its level: `python -m benchmarks coverage`."""
    few = noisy(36, problems=6)
    assert interval(few, "rmse", seed=1) == interval(few, "rmse", seed=2), "nothing is drawn"
    sample = Sample.of(Sorted.of(few).scored)
    drawn = percentile(np.concatenate([rmse(table) for _, table in sample.draws(400, 0)]))
    assert isinstance(drawn, Interval)
    assert width(interval(few, "rmse")) > 1.4 * width(drawn)


def test_a_studentised_interval_stays_within_the_range_of_the_statistic() -> None:
    for seed in range(20):
        for slug, low, high in (("exact", 0, 1), ("off_by_two", 0, 1), ("qwk", -1, 1), ("pearson", -1, 1), ("rmse", 0, 99)):
            found = agree(noisy(36, problems=6, seed=seed, wrong=0.15)).estimate(slug).interval
            assert isinstance(found, Undefined) or low <= found.low <= found.high <= high, (slug, seed)


def test_the_studentised_interval_of_a_mean_is_the_textbook_one() -> None:
    """Without a transformation and with one paper per problem it is mean ± t · s / √n."""
    errors = np.array([1.0, -2.0, 0.0, 3.0, 1.0, 0.0])
    without = np.array([np.delete(errors, place).mean() for place in range(6)])
    found = studentised(float(errors.mean()), without, "plain")
    assert isinstance(found, Interval)
    low, high = stats.t.interval(0.95, 5, errors.mean(), errors.std(ddof=1) / np.sqrt(6))
    assert [found.low, found.high] == pytest.approx([low, high], abs=2e-3)


def test_students_quantile_is_within_a_thousandth() -> None:
    assert [student_t(n) for n in range(4, 50)] == pytest.approx([stats.t.ppf(0.975, n) for n in range(4, 50)], rel=1e-3)


def test_if_no_problem_changes_the_value_the_interval_is_undefined_with_the_reason() -> None:
    marks = [float(number % 8) for number in range(36)]
    found = agree(pairs_of(marks, marks, problems=6)).estimate("exact")
    assert found.value == 1
    assert isinstance(found.interval, Undefined)
    assert "the same without any one of the problems" in found.interval.reason


def test_a_grader_is_as_good_as_a_second_person_only_if_intervals_overlap() -> None:
    people, good, bad = (agree(noisy(200, wrong=wrong), draws=200) for wrong in (0.2, 0.22, 0.95))
    assert as_good(good, people, "qwk") is True
    assert as_good(bad, people, "qwk") is False
    assert as_good(agree(noisy(10)), people, "qwk") is None
