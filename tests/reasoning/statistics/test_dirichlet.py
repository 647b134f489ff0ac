"""The Dirichlet posterior of a mean in closed form."""

import numpy as np
import pytest
from scipy import stats

from apps.reasoning.statistics.dirichlet import Posterior, posterior
from apps.reasoning.statistics.intervals import Undefined
from apps.reasoning.statistics.metrics import average
from tests.reasoning.statistics.tables import NAN, drawn, mean, scores


def found_for(cells: list[list[float]], prior: float = 1) -> Posterior:
    found = posterior(scores(cells, total=7), prior=prior)
    assert isinstance(found, Posterior)
    return found


@pytest.mark.parametrize("prior", [1, 0.25])
def test_it_is_the_mean_and_deviation_of_scipys_dirichlet(prior: float) -> None:
    cells = [[7.0, 7.0, 0.0, 3.0], [0.0, 0.0, NAN, 1.0]]
    shares = np.arange(8) / 7
    each = [stats.dirichlet(np.bincount([int(cell) for cell in row if cell == cell], minlength=8) + prior) for row in cells]
    found = found_for(cells, prior)
    assert found.mean == pytest.approx(np.mean([one.mean() @ shares for one in each]))
    assert found.deviation == pytest.approx(np.sqrt(sum(shares @ one.cov() @ shares for one in each)) / 2)
    assert found.interval.high - found.interval.low == pytest.approx(2 * 1.96 * found.deviation, rel=1e-4)


def test_solved_or_not_is_the_beta_posterior() -> None:
    found = posterior(scores([[1, 1, 0, 1]]), categories=2)
    assert isinstance(found, Posterior)
    assert (found.mean, found.deviation) == pytest.approx((stats.beta(4, 2).mean(), stats.beta(4, 2).std()))


def test_under_a_uniform_prior_methods_keep_the_order_of_their_means() -> None:
    tables = [drawn(10, seed=seed, total=7) for seed in range(12)]
    posteriors = [posterior(table) for table in tables]
    by_posterior = np.argsort([one.mean for one in posteriors if isinstance(one, Posterior)])
    assert by_posterior.tolist() == np.argsort([mean(table).value for table in tables]).tolist()


def test_a_smaller_prior_draws_less_towards_one_half() -> None:
    means = [found_for([[7.0] * 4] * 6, prior).mean for prior in (1, 0.1, 0.01)]
    assert means == sorted(means)
    assert means[0] == pytest.approx((4 + 4) / 12)


def test_what_is_no_category_is_refused_and_an_unscored_problem_has_no_posterior() -> None:
    with pytest.raises(ValueError, match="between the 8 categories"):
        found_for([[3.5]])
    with pytest.raises(ValueError, match="above 0"):
        found_for([[3.0]], prior=0)
    table = scores([[NAN], [7.0]], total=7)
    assert posterior(table) == average(table)
    assert isinstance(posterior(table), Undefined)
