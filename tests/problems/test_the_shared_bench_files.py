"""The real IMO-Bench files survive import and export, except their one shifted row."""

import csv
import io
from pathlib import Path

import pytest

from apps.files.csv_files import cell_read
from apps.problems.importing.exports import export_text
from apps.problems.importing.plans import plan_make
from apps.problems.models import Problem
from apps.problems.services import problems_import
from tests.problems.factory import SHARED, needs_shared_data

pytestmark = [pytest.mark.django_db, *needs_shared_data]


def rows_of(text: str) -> list[dict[str, str]]:
    """Cells without surrounding white space and without the guard against formulas."""
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [{name: cell_read(cell or "").strip() for name, cell in row.items()} for row in rows]


def bench(name: str) -> Path:
    return SHARED / name


@pytest.mark.parametrize(
    ("name", "good", "wrong"), [("proofbench_v2.csv", 60, []), ("answerbench_v2.csv", 399, ["imo-bench-algebra-036"])]
)
def test_the_file_survives_import_and_export(name: str, good: int, wrong: list[str]) -> None:
    data = bench(name).read_bytes()
    plan = plan_make(data)
    assert len(plan.good) == good
    assert [row.label for row in plan.wrong] == wrong
    assert all("shifted" in row.reason for row in plan.wrong)
    problems_import(drafts=[row.draft for row in plan.good], by=None)
    back = rows_of(export_text(Problem.objects.order_by("pk"), file_format="csv", shape_name=plan.shape.name))
    assert back == [row for row in rows_of(data.decode()) if row["Problem ID"] not in wrong]


@pytest.mark.parametrize("name", ["proofbench_v2.csv", "answerbench_v2.csv"])
def test_importing_it_twice_adds_nothing(name: str) -> None:
    data = bench(name).read_bytes()
    problems_import(drafts=[row.draft for row in plan_make(data).good], by=None)
    again = plan_make(data)
    assert again.good == []
    assert {"Already" in row.reason for row in again.wrong if "shifted" not in row.reason} == {True}
