"""The bootstrap draws problems, and then repeats inside them, by a seed."""

import numpy as np
import pytest
from scipy import stats

from apps.reasoning.statistics.bootstrap import bootstrap, resampled
from apps.reasoning.statistics.intervals import Floats, Interval, Undefined
from tests.reasoning.statistics.tables import drawn, scores


def means(tables: Floats) -> Floats:
    return np.asarray(tables.mean(axis=(1, 2)))


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    table = drawn(30)
    assert bootstrap(table, means) == bootstrap(table, means)
    assert bootstrap(table, means) != bootstrap(table, means, seed=1)


def test_repeats_are_drawn_inside_their_problem() -> None:
    table = scores(np.arange(80).reshape(20, 4) / 80)
    found = np.round(resampled(table, draws=50) * 80).astype(int)
    assert ((found // 4) == (found[:, :, :1] // 4)).all()
    assert any(len(set(row)) < 4 for row in found[0].tolist())
    whole = np.round(resampled(table, draws=50, repeats=False) * 80).astype(int)
    assert (np.diff(whole, axis=2) == 1).all()


def test_whole_problems_give_the_percentiles_of_scipy() -> None:
    table = drawn(40, total=7)
    found = bootstrap(table, means, repeats=False)
    theirs = stats.bootstrap(
        (table.shares.mean(axis=1),), np.mean, n_resamples=4_000, method="percentile", rng=np.random.default_rng(5)
    ).confidence_interval
    assert isinstance(found, Interval)
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_below_twenty_problems_there_is_none() -> None:
    found = bootstrap(drawn(19), means)
    assert isinstance(found, Undefined)
    assert "20 are needed" in found.reason


def test_a_statistic_without_a_value_in_many_draws_is_undefined() -> None:
    assert isinstance(bootstrap(drawn(30), lambda tables: np.full(len(tables), np.nan)), Undefined)
