"""Write golden_values.json with statsmodels and ppi-python, which are not among our requirements.

pip install --target /tmp/golden statsmodels ppi-python
PYTHONPATH=/tmp/golden python -m tests.reasoning.statistics.golden_values
"""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

KEPT = Path(__file__).with_name("golden_values.json")


def main() -> None:
    found = {
        "made_with": {name: version(name) for name in ("statsmodels", "ppi-python", "numpy")},
        "agresti_coull": _agresti_coull(),
        "holm": _holm(),
        "t_power": _t_power(),
        "clusters": _clusters(),
        "ppi": [_ppi(seed) for seed in range(4)],
    }
    KEPT.write_text(json.dumps(found, indent=1) + "\n")


def _agresti_coull() -> list[dict[str, float]]:
    from statsmodels.stats.proportion import proportion_confint

    cases = ((0, 6), (1, 6), (6, 6), (7, 30), (29, 30), (31, 60))
    ends = [proportion_confint(count, trials, method="agresti_coull") for count, trials in cases]
    return [
        {"count": count, "trials": trials, "low": float(low), "high": float(high)}
        for (count, trials), (low, high) in zip(cases, ends, strict=True)
    ]


def _holm() -> list[dict[str, Any]]:
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(1)
    families = [rng.uniform(0, 1, size) ** 3 for size in (1, 5, 11, 66)]
    return [{"p": one.tolist(), "adjusted": multipletests(one, method="holm")[1].tolist()} for one in families]


def _t_power() -> list[dict[str, float]]:
    """Standardised differences that a two-sided paired t-test shows in 80 % of samples."""
    from statsmodels.stats.power import TTestPower

    return [
        {"problems": size, "level": level, "effect": float(TTestPower().solve_power(nobs=size, alpha=level, power=0.8))}
        for size in (10, 20, 40, 100)
        for level in (0.05, 0.05 / 11)
    ]


def _clusters() -> dict[str, Any]:
    """Error of a mean by whole clusters, of which some have fewer values."""
    import statsmodels.api as sm

    rng = np.random.default_rng(2)
    cells = rng.integers(0, 8, (12, 1)) * 0.5 + rng.integers(0, 4, (12, 4))
    kept = rng.random(cells.shape) < 0.8
    groups = np.broadcast_to(np.arange(12)[:, None], cells.shape)[kept]
    fitted = sm.OLS(cells[kept], np.ones(kept.sum())).fit(cov_type="cluster", cov_kwds={"groups": groups})
    rows = [[float(cell) if one else None for cell, one in zip(*row, strict=True)] for row in zip(cells, kept, strict=True)]
    return {"cells": rows, "mean": float(fitted.params[0]), "error": float(fitted.bse[0])}


def _ppi(seed: int) -> dict[str, Any]:
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    rng = np.random.default_rng(seed)
    marks = rng.integers(0, 8, 150 + 100 * seed) / 7
    graded = np.clip(marks + rng.normal(0.1, 0.15 + 0.1 * seed, len(marks)), 0, 1)
    marked = 40
    split = (marks[:marked], graded[:marked], graded[marked:])
    low, high = (float(np.squeeze(end)) for end in ppi_mean_ci(*split, alpha=0.05, lam=0.7))
    return {
        "marks": marks[:marked].tolist(),
        "graded": graded.tolist(),
        "value_at_0.7": float(np.squeeze(ppi_mean_pointestimate(*split, lam=0.7))),
        "half_width_at_0.7": (high - low) / 2,
        "value_tuned": float(np.squeeze(ppi_mean_pointestimate(*split))),
    }


if __name__ == "__main__":
    main()
