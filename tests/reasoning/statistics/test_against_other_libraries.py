"""Values of statsmodels and ppi-python, stored in golden_values.json by golden_values.py, and of SciPy here."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from apps.reasoning.statistics.differences import holm
from apps.reasoning.statistics.intervals import student_t
from apps.reasoning.statistics.means import agresti_coull
from apps.reasoning.statistics.power import smallest_detectable
from apps.reasoning.statistics.prediction_powered import Corrected, corrected_mean
from tests.reasoning.statistics.tables import NAN, scores

KEPT: dict[str, Any] = json.loads(Path(__file__).with_name("golden_values.json").read_text())


@pytest.mark.parametrize("freedom", [4, 5, 9, 29, 59, 1_000])
@pytest.mark.parametrize("chance", [0.8, 0.975, 0.995, 0.999])
def test_quantiles_of_students_t_are_those_of_scipy(freedom: int, chance: float) -> None:
    assert student_t(freedom, chance) == pytest.approx(stats.t.ppf(chance, freedom), rel=0.01)


@pytest.mark.parametrize("case", KEPT["agresti_coull"], ids=lambda case: f"{case['count']} of {case['trials']}")
def test_intervals_of_shares_are_agresti_and_coulls(case: dict[str, float]) -> None:
    found = agresti_coull(case["count"] / case["trials"], case["trials"], 10**9)
    assert (found.low, found.high) == pytest.approx((case["low"], case["high"]), abs=1e-6)


@pytest.mark.parametrize("case", KEPT["holm"], ids=lambda case: len(case["p"]))
def test_holm_is_that_of_statsmodels(case: dict[str, list[float]]) -> None:
    assert holm(case["p"]) == pytest.approx(case["adjusted"])


@pytest.mark.parametrize("case", KEPT["t_power"], ids=lambda case: f"{case['problems']:g} at {case['level']:.3g}")
def test_where_the_test_decides_the_power_is_that_of_the_paired_t_test(case: dict[str, float]) -> None:
    """With much spread the half problems that the interval adds do not matter."""
    found = smallest_detectable(1e6, int(case["problems"]), round(0.05 / case["level"]))
    assert found == pytest.approx(case["effect"] * 1e3, rel=0.03)


def test_the_error_of_marks_is_the_cluster_robust_one_of_statsmodels() -> None:
    """Without the grader (λ = 0), the corrected mean is the mean of the marks, with errors by whole problems."""
    case = KEPT["clusters"]
    marks = np.array([[NAN if cell is None else cell for cell in row] for row in case["cells"]])
    found = corrected_mean(scores(np.zeros(marks.shape)), scores(marks, total=7), tuning=0)
    assert isinstance(found, Corrected)
    assert (found.value * 7, found.error * 7) == pytest.approx((case["mean"], case["error"]))


@pytest.mark.parametrize("case", KEPT["ppi"], ids=lambda case: f"{len(case['graded'])} grades")
def test_corrected_means_are_those_of_ppi_python(case: dict[str, Any]) -> None:
    """Every cell is a problem of its own. ppi-python divides by n, and pools both samples for its λ."""
    count, graded = len(case["marks"]), scores([[grade] for grade in case["graded"]])
    marks = scores([[mark] for mark in case["marks"]] + [[NAN]] * (len(case["graded"]) - count))
    fixed, tuned = corrected_mean(graded, marks, tuning=0.7), corrected_mean(graded, marks)
    assert isinstance(fixed, Corrected)
    assert isinstance(tuned, Corrected)
    assert fixed.value == pytest.approx(case["value_at_0.7"])
    assert fixed.error * 1.959964 == pytest.approx(case["half_width_at_0.7"] * np.sqrt(count / (count - 1)), rel=1e-5)
    assert tuned.value == pytest.approx(case["value_tuned"], abs=0.1 * tuned.error)
