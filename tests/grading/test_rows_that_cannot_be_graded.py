"""A row that cannot be graded is unscored with its reason; the other rows of the file are still graded."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.graders.grade import REFERENCES, SCRIPT, grading
from tests.grading import test_grade_command as command

table = command.table
pytestmark = pytest.mark.django_db
ROWS: list[dict[str, Any]] = [
    {"id": "P1", "task": "T", "problem": "Prove it.", "script": SCRIPT, "mark": 1},
    {"id": "P2", "task": "T", "problem": "Prove it.", "script": "  \n ", "mark": 0},
    {"id": "P3", "task": "T", "problem": "Prove it.", "script": None, "mark": 0},
    {"id": "P4", "task": "T", "problem": " ", "script": SCRIPT, "mark": 2},
    {"id": "P5", "task": "T", "problem": "Prove it.", "script": ["a", "list"], "mark": 3},
]


def written(tmp_path: Path, rows: list[dict[str, Any]]) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_an_empty_script_is_unscored_and_the_others_are_graded(table: command.Table, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    out = tmp_path / "out.jsonl"
    output = command.run(written(tmp_path, ROWS), out)
    found = {row["paper"]: row for row in command.rows(out)}
    assert {name: row["unscored"] for name, row in found.items()} == {
        "P1": "", "P2": "empty", "P3": "empty", "P4": "there is no problem in “problem”",
        "P5": "The value of script is not text",
    }  # fmt: skip
    assert [(row["points"], row["calls"]) for name, row in sorted(found.items())] == [(2, 1), *[(None, 0)] * 4]
    assert [row["mark"] for _, row in sorted(found.items())] == [1, 0, 0, 2, 3]
    assert "4 of 5 scripts cannot be graded and will be unscored without a call: 2 empty" in output
    assert "5 scripts, 4 of them unscored; 1 call, 15 tokens." in output


def test_unscored_rows_are_written_once_and_reported_by_the_estimate(table: command.Table, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    out, file = tmp_path / "out.jsonl", written(tmp_path, ROWS)
    assert "4 of 5 scripts cannot be graded" in command.run(file, out, "--estimate")
    assert not out.exists()
    command.run(file, out)
    before = out.read_text()
    assert "5 of 5 are already in the output." in command.run(file, out)
    assert out.read_text() == before


def test_a_file_with_only_empty_scripts_is_unscored(table: command.Table, tmp_path: Path) -> None:
    command.run(written(tmp_path, ROWS[1:3]), tmp_path / "out.jsonl")
    assert [row["unscored"] for row in command.rows(tmp_path / "out.jsonl")] == ["empty", "empty"]
    assert command.ASKED == []


def test_one_row_without_a_reference_does_not_stop_the_others(table: command.Table, tmp_path: Path) -> None:
    table["*"] = grading(3)
    rows = [row | {"one": text} for row, text in zip(ROWS[:1] * 2, (REFERENCES[0], ""), strict=True)]
    rows[1] = rows[1] | {"id": "P2"}
    command.run(written(tmp_path, rows), tmp_path / "out.jsonl", "--reference", "one", workflow="ref3")
    found = {row["paper"]: row for row in command.rows(tmp_path / "out.jsonl")}
    assert found["P1"]["points"] == 3
    assert found["P2"]["unscored"] == "With a reference needs a reference solution"


def test_material_missing_from_all_rows_is_reported_before_anything_is_written(table: command.Table, tmp_path: Path) -> None:
    rows = [ROWS[0], ROWS[1]]
    with pytest.raises(CommandError, match="P1: With a reference needs a reference solution"):
        command.run(written(tmp_path, rows), tmp_path / "out.jsonl", workflow="ref3")
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("column", ["paper", "name"])
def test_papers_are_named_by_the_column_paper_or_name_by_default(table: command.Table, tmp_path: Path, column: str) -> None:
    table["grade"] = grading(2)
    file = written(tmp_path, [{column: "anna-1", "problem": "Prove it.", "script": SCRIPT}])
    call_command("grade", str(file), "--workflow", "single_turn", "--alias", "served", "--out", str(tmp_path / "o"))
    assert [row["paper"] for row in command.rows(tmp_path / "o")] == ["anna-1"]
