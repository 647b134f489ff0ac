"""Every formula of the worked example is one that KaTeX sets without complaint."""

from pathlib import Path

import pytest

from tests.node import facts

SCRIPT = Path(__file__).with_name("check_formulas.mjs")
KATEX = Path(__file__).resolve().parents[2] / "node_modules" / "katex"


def test_katex_sets_every_formula() -> None:
    if not KATEX.is_dir():
        pytest.skip("needs the front-end packages (npm ci)")
    found = facts(str(SCRIPT))
    assert found["wrong"] == []
    assert found["formulas"] > 1000
