"""Columns that a person keeps come out as they went in, whatever they are called; ours step aside and say so."""

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.grading.kept_columns import names_beside
from apps.grading.outputs import COLUMNS
from tests.graders.grade import SCRIPT, finding, grading
from tests.grading import test_grade_command as command
from tests.grading.test_markup_in_files import MARKED, read

table, scripts = command.table, command.scripts
pytestmark = pytest.mark.django_db
MARKS = [7, 0, 3]


def given(**more: Any) -> list[dict[str, Any]]:
    """Three scripts with a person's marks under the name that our own points have."""
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
def test_a_persons_points_are_kept_and_the_graders_stand_beside_them(table: command.Table, tmp_path: Path, ending: str) -> None:
    table["grade"] = grading(2)
    out = tmp_path / "out.jsonl"
    said = graded(write(tmp_path / f"in.{ending}", given()), out, "--keep", "points")
    assert "“points” of the file is kept; the grader's own column is “grader_points”." in said
    assert by_paper(out, "points") == [str(mark) for mark in MARKS]
    assert by_paper(out, "grader_points") == [2, 2, 2]
    told = StringIO()
    asked = ("--human", "points", "--predicted", "grader_points", "--paper", "paper", "--json")
    call_command("agreement", str(out), *asked, stdout=told)
    counts = json.loads(told.getvalue())["parts"][0]["graders"][0]["over_all"]["counts"]
    assert (counts["pairs"], counts["same"]) == (3, 0)


def test_every_column_of_ours_can_be_kept_and_what_was_stopped_goes_on(table: command.Table, tmp_path: Path) -> None:
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
    assert "3 of 3 are in the output already." in graded(tmp_path / "in.jsonl", out, *keep)
    assert command.ASKED == []


def test_the_same_column_kept_twice_is_there_once(table: command.Table, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    out = tmp_path / "out.jsonl"
    graded(write(tmp_path / "in.jsonl", given(mark=5)), out, "--keep", "mark", "--keep", "mark")
    assert by_paper(out, "mark") == [5, 5, 5]
    assert by_paper(out, "points") == [2, 2, 2]


def test_an_output_with_other_kept_columns_is_not_added_to(table: command.Table, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    out, file = tmp_path / "out.jsonl", write(tmp_path / "in.jsonl", given())
    graded(file, out)
    before = out.read_text()
    with pytest.raises(CommandError, match=r"no column “grader_points”.*Choose another --out"):
        graded(file, out, "--keep", "points")
    assert out.read_text() == before


def test_a_line_separator_in_a_script_does_not_hide_what_is_done(table: command.Table, tmp_path: Path) -> None:
    table["grade"] = grading(2, finding())
    out = tmp_path / "out.jsonl"
    file = write(tmp_path / "in.jsonl", [{"id": "P", "problem": "Prove it.", "script": SCRIPT, "mark": "a\u2028b\x85c"}])
    graded(file, out, "--keep", "mark")
    assert "1 of 1 are in the output already." in graded(file, out, "--keep", "mark")


def test_names_step_aside_until_they_are_free() -> None:
    assert names_beside(["points", "run"], ["points", "grader_points"]) == {"points": "grader_grader_points", "run": "run"}
    assert names_beside(["run", "grader_run"], ["run"]) == {"run": "grader_grader_run", "grader_run": "grader_run"}
    assert names_beside(["run"], []) == {"run": "run"}


def test_marked_scripts_keep_columns_that_are_called_like_ours(tmp_path: Path) -> None:
    said, (row,) = read(tmp_path, [{"proof": MARKED, "grade": 3, "points": "6.5", "findings": "none"}], "--grade", "grade",
                        "--keep", "points", "findings")  # fmt: skip
    assert (row["points"], row["findings"]) == ("6.5", "none")
    assert (row["read_points"], row["read_findings"][0]["fallacy"]) == (5.0, "proof-by-example")
    assert "“points” of the file is kept; ours is “read_points”." in said


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
    with pytest.raises(CommandError, match=rf"{twice}: .*itself"):
        call_command("agreement", str(file), *columns, stdout=StringIO())


def test_one_column_is_not_two_runs_of_a_grader(tmp_path: Path) -> None:
    file = write(tmp_path / "in.jsonl", given(one=4))
    with pytest.raises(CommandError, match="“one” is named twice"):
        call_command("agreement", str(file), "--human", "points", "--predicted", "one", "--predicted", "one", "--runs")
