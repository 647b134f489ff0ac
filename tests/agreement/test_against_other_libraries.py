"""Our statistics equal those of scikit-learn, SciPy and irrCAC.

irrCAC 0.4.4 needs SciPy 1.12, which is incompatible with our NumPy. Its values were computed in a separate environment and
stored in irrcac_values.json. If it can be imported, they are computed again.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from apps.reasoning.agreement.chance import ac2, qwk, scott_pi_weighted
from apps.reasoning.agreement.statistics import mae, pearson, rmse, spearman
from apps.reasoning.agreement.table import Table
from tests.agreement.tables import HALVES, WHOLE, one

KEPT = json.loads(Path(__file__).with_name("irrcac_values.json").read_text())
SCALES = {"whole": WHOLE, "half": HALVES}
Rows = tuple[list[float], list[float]]


def random_rows(seed: int, count: int = 80) -> Rows:
    random = Random(seed)
    human = [float(random.choice((0, 0, 0, 1, 3, 6, 7, 7))) for _ in range(count)]
    return human, [float(random.choice((mark, mark, mark, random.randrange(8)))) for mark in human]


@pytest.mark.parametrize("seed", range(3))
def test_scikit_learn_has_the_same_kappa_and_errors(seed: int) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    human, predicted = random_rows(seed)
    labels = [int(points) for points in WHOLE.categories]
    whole = [int(mark) for mark in human], [int(points) for points in predicted]
    points = Table.of(human, predicted)
    assert one(qwk(points, WHOLE)) == pytest.approx(metrics.cohen_kappa_score(*whole, weights="quadratic", labels=labels))
    assert one(mae(points)) == pytest.approx(metrics.mean_absolute_error(human, predicted))
    assert one(rmse(points)) == pytest.approx(metrics.root_mean_squared_error(human, predicted))


@pytest.mark.parametrize("seed", range(3))
def test_scipy_has_the_same_correlations(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    human, predicted = random_rows(seed)
    points = Table.of(human, predicted)
    assert one(pearson(points)) == pytest.approx(stats.pearsonr(human, predicted).statistic)
    assert one(spearman(points)) == pytest.approx(stats.spearmanr(human, predicted).statistic)


@pytest.mark.parametrize("case", KEPT["cases"], ids=lambda case: case["name"])
def test_irrcac_has_the_same_three_coefficients(case: dict[str, Any]) -> None:
    points, scale = Table.of(case["human"], case["predicted"]), SCALES[case["scale"]]
    assert one(ac2(points, scale)) == pytest.approx(case["gwet"], abs=1e-8)
    assert one(scott_pi_weighted(points, scale)) == pytest.approx(case["fleiss"], abs=1e-8)
    assert one(qwk(points, scale)) == pytest.approx(case["conger"], abs=1e-8)


@pytest.mark.irrcac
def test_irrcac_still_gives_the_stored_values() -> None:
    raw = pytest.importorskip("irrCAC.raw")
    pandas = pytest.importorskip("pandas")
    for case in KEPT["cases"]:
        frame = pandas.DataFrame({"human": case["human"], "predicted": case["predicted"]})
        categories = list(SCALES[case["scale"]].categories)
        found = raw.CAC(frame, weights="quadratic", categories=categories, digits=10)
        for name in ("gwet", "fleiss", "conger"):
            assert getattr(found, name)()["est"]["coefficient_value"] == pytest.approx(case[name], abs=1e-8)
