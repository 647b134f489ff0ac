"""Real proofs: solutions of the sample library, and proofs with full marks. No true claim in them is refuted."""

import csv
import os
from pathlib import Path

import pytest

from apps.mathcheck.checking import check_text
from apps.mathcheck.findings import REFUTED, SURVIVED

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = sorted((ROOT / "apps/problems/sample_library").glob("*.md"))
SHARED = Path(os.environ.get("SHARED_DATA", ROOT / "../shared/data"))
GRADED = SHARED / "gradingbench/gradingbench_filtered_100_train.csv"


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_a_reference_solution_is_not_refuted(path: Path) -> None:
    statement, _, solutions = path.read_text(encoding="utf-8").partition("## Solution")
    findings = check_text(solutions, [statement.rpartition("+++")[2]])
    assert [finding.anchor.quote for finding in findings if finding.outcome == REFUTED] == []


def test_the_sample_library_is_understood_in_part() -> None:
    outcomes = [finding.outcome for path in LIBRARY for finding in check_text(path.read_text(encoding="utf-8"))]
    assert outcomes.count(SURVIVED) >= 40


@pytest.mark.shared_data
@pytest.mark.skipif(not GRADED.exists(), reason="SHARED_DATA holds no gradingbench")
def test_proofs_with_full_marks_are_not_refuted() -> None:
    csv.field_size_limit(10**8)
    with GRADED.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["Points"] == "7"][:12]
    found = {
        row["Grading ID"]: [f.anchor.quote for f in check_text(row["Response"], [row["Problem"]]) if f.outcome == REFUTED]
        for row in rows
    }
    assert len(found) >= 10
    assert {key: quotes for key, quotes in found.items() if quotes} == {}
