"""KaTeX with our macros sets what olympiad texts hold: fewer than 1 in 200 formulas fail, and those are listed."""

import csv
import os
from pathlib import Path

import pytest

from apps.ui.formulas import formulas
from tests.node import run_script

ROOT = Path(__file__).resolve().parents[2]
VENDOR = ROOT / "static" / "vendor" / "katex" / "katex.mjs"
LIBRARY = ROOT / "apps" / "problems" / "sample_library"
IMO_BENCH = ROOT / os.environ.get("SHARED_DATA", "../shared/data") / "imo-bench"
MOST_FAILURES = 1 / 200

pytestmark = pytest.mark.skipif(not VENDOR.is_file(), reason="the front-end packages are not there: manage.py vendor_assets")


def failures(texts: list[str]) -> tuple[int, list[tuple[str, str]]]:
    """How many formulas the texts hold, and those KaTeX cannot set with the reason."""
    found = [(formula.tex, formula.display) for text in texts for formula in formulas(text)]
    return len(found), run_script("check_katex.mjs", found)


def test_every_formula_of_the_sample_library_is_set() -> None:
    count, failed = failures([path.read_text(encoding="utf-8").split("+++\n", 2)[2] for path in sorted(LIBRARY.glob("*.md"))])

    assert count > 1_000
    assert failed == []


@pytest.mark.shared_data
@pytest.mark.skipif(not IMO_BENCH.is_dir(), reason="SHARED_DATA has no imo-bench")
@pytest.mark.parametrize("name", ["proofbench_v2.csv", "answerbench_v2.csv"])
def test_formulas_of_imo_bench_are_set(name: str) -> None:
    with (IMO_BENCH / name).open(encoding="utf-8", newline="") as file:
        texts = [value for row in csv.DictReader(file) for value in row.values() if isinstance(value, str)]
    count, failed = failures(texts)
    listing = "\n".join(f"{tex!r}: {reason}" for tex, reason in failed)

    assert count > 2_000
    assert len(failed) < MOST_FAILURES * count, listing


@pytest.mark.parametrize(
    "tex",
    [
        *("\\overparen{AB}", "\\wideparen{AB}", "\\overarc{AB}", "\\parallelogram ABCD", "\\abs{x}", "\\abs*{x}", "\\norm{v}"),
        *("\\mbox{if }", "\\mathbbm{1}", "\\mathds{1}", "\\ensuremath{x}", "\\qed", "x\\label{a}", "\\eqref{a}", "\\ref{a}"),
        *("\\lcm(a,b)", "\\ord_p(n)", "\\N\\Z\\Q\\R\\C\\F", "\\ang{90}", "\\floor{x}\\ceil{x}", "\\hdots", "\\textbackslash"),
        "\\DeclareMathOperator{\\rad}{rad}\\rad(n)",
        "\\begin{eqnarray}a&=&b\\\\c&\\le&d\\end{eqnarray}",
        "\\begin{multline}a\\\\b\\end{multline}",
        "\\begin{align}a&=b\\label{x}\\\\\\intertext{so}c&=d\\tag{1}\\end{align}",
        "\\begin{aligned}[t]a\\\\b\\end{aligned}",
    ],
)
def test_known_gaps_of_katex_are_closed(tex: str) -> None:
    assert run_script("check_katex.mjs", [(tex, True)]) == []


def test_what_is_wrong_is_listed_with_its_reason() -> None:
    [(tex, reason)] = run_script("check_katex.mjs", [("\\notacommand", False), ("x", False)])

    assert tex == "\\notacommand"
    assert "Undefined control sequence" in reason
