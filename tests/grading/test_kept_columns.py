"""Kept columns are copied unchanged under their names; our columns are renamed on a clash, and the command reports it."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.files.kept_columns import output_names
from apps.graders.batches.outputs import COLUMNS
from tests.graders.grade import SCRIPT, finding, grading
from tests.grading import test_grade_command as command
from tests.grading.test_markup_in_files import MARKED, read

table, scripts = command.table, command.scripts
pytestmark = pytest.mark.django_db
MARKS = [7, 0, 3]


def given(**more: Any) -> list[dict[str, Any]]:
    """Three scripts with a person's marks in a column named like our own points."""
    return [
        {"id": f"P{number}", "problem": "Prove it.", "script": f"{SCRIPT}\n\nVersion {number}.", "points": str(mark)} | more
        for number, mark in enumerate(MARKS)
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    else:
        path.write_text(json.dumps(rows) if path.suffix == ".json" else "\n".join(map(json.dumps, rows)))
    return path


def graded(file: Path, out: Path, *more: str) -> str:
    written = StringIO()
    named = ["--workflow", "single_turn", "--out", str(out), "--alias", "served", "--paper", "id"]
    call_command("grade", str(file), *named, *more, stdout=written)
    return written.getvalue()


def by_paper(out: Path, column: str) -> list[Any]:
    return [row[column] for row in sorted(command.rows(out), key=lambda row: str(row["id"] if "id" in row else row["paper"]))]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json"])
def test_a_persons_points_are_kept_next_to_the_graders_points(table: command.Table, tmp_path: Path, ending: str) -> None:
    table["grade"] = grading(2)
    out = tmp_path / "out.jsonl"
    text = graded(write(tmp_path / f"in.{ending}", given()), out, "--keep", "points")
    assert "The file's column “points” is kept; the grader's column is named “grader_points”." in text
    assert by_paper(out, "points") == [str(mark) for mark in MARKS]
    assert by_paper(out, "grader_points") == [2, 2, 2]
    output = StringIO()
    asked = ("--human", "points", "--predicted", "grader_points", "--paper", "paper", "--json")
    call_command("agreement", str(out), *asked, stdout=output)
    counts = json.loads(output.getvalue())["parts"][0]["graders"][0]["over_all"]["counts"]
    assert (counts["pairs"], counts["same"]) == (3, 0)


def test_columns_named_like_any_of_ours_can_be_kept_and_a_stopped_run_continues(table: command.Table, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    out, foreign = tmp_path / "out.jsonl", {name: f"theirs, {name}" for name in (*COLUMNS, "grader_run", "__proto__")}
    rows = [row | {name: words for name, words in foreign.items() if name not in row} for row in given()]
    keep = [part for name in (*foreign, "points") for part in ("--keep", name)]
    graded(write(tmp_path / "in.jsonl", rows), out, *keep)
    for before, after in zip(rows, command.rows(out), strict=True):
        assert {name: after[name] for name in foreign} == {name: before[name] for name in foreign}
        assert (after["grader_points"], after["grader_paper"]) == (2, before["id"])
        assert len(after["grader_grader_run"]) == 32
    command.ASKED.clear()
    assert "3 of 3 are already in the output." in graded(tmp_path / "in.jsonl", out, *keep)
    assert command.ASKED == []


def test_a_column_kept_twice_is_copied_once(table: command.Table, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    out = tmp_path / "out.jsonl"
    graded(write(tmp_path / "in.jsonl", given(mark=5)), out, "--keep", "mark", "--keep", "mark")
    assert by_paper(out, "mark") == [5, 5, 5]
    assert by_paper(out, "points") == [2, 2, 2]


def test_an_output_with_other_kept_columns_is_not_extended(table: command.Table, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    out, file = tmp_path / "out.jsonl", write(tmp_path / "in.jsonl", given())
    graded(file, out)
    before = out.read_text()
    with pytest.raises(CommandError, match=r"no column “grader_points”.*Choose another --out"):
        graded(file, out, "--keep", "points")
    assert out.read_text() == before


def test_a_line_separator_in_a_value_does_not_hide_finished_rows(table: command.Table, tmp_path: Path) -> None:
    table["grade"] = grading(2, finding())
    out = tmp_path / "out.jsonl"
    file = write(tmp_path / "in.jsonl", [{"id": "P", "problem": "Prove it.", "script": SCRIPT, "mark": "a\u2028b\x85c"}])
    graded(file, out, "--keep", "mark")
    assert "1 of 1 are already in the output." in graded(file, out, "--keep", "mark")


def test_names_are_prefixed_until_they_are_unique() -> None:
    assert output_names(["points", "run"], ["points", "grader_points"]) == {"points": "grader_grader_points", "run": "run"}
    assert output_names(["run", "grader_run"], ["run"]) == {"run": "grader_grader_run", "grader_run": "grader_run"}
    assert output_names(["run"], []) == {"run": "run"}


def test_marked_scripts_keep_columns_named_like_ours(tmp_path: Path) -> None:
    text, (row,) = read(tmp_path, [{"proof": MARKED, "grade": 3, "points": "6.5", "findings": "none"}], "--grade", "grade",
                        "--keep", "points", "findings")  # fmt: skip
    assert (row["points"], row["findings"]) == ("6.5", "none")
    assert (row["read_points"], row["read_findings"][0]["fallacy"]) == (5.0, "proof-by-example")
    assert "The file's column “points” is kept; ours is named “read_points”." in text


@pytest.mark.parametrize(
    ("columns", "twice"),
    [
        (("--human", "points", "--predicted", "points"), "a person's points and a grader's"),
        (("--human", "points", "--predicted", "grader_points", "--second", "points"), "the points of two people"),
        (
            ("--human", "points", "--predicted", "grader_points", "--second", "grader_points"),
            "a second person's points and a grader's",
        ),
    ],
)
def test_agreement_of_a_column_with_itself_is_refused(tmp_path: Path, columns: tuple[str, ...], twice: str) -> None:
    file = write(tmp_path / "in.jsonl", given(grader_points=4))
    with pytest.raises(CommandError, match=rf"{twice}, .*itself"):
        call_command("agreement", str(file), *columns, stdout=StringIO())


def test_one_column_cannot_be_two_runs_of_a_grader(tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", given(one=4))
    with pytest.raises(CommandError, match="“one” is given twice"):
        call_command("agreement", str(file), "--human", "points", "--predicted", "one", "--predicted", "one", "--runs")
