"""`manage.py agreement` on all kinds of files, and its refusals."""

import json
import os
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

MARKS = [0, 0, 1, 2, 5, 6, 7, 7] * 5
PREDICTED = [0, 1, 1, 4, 5, 7, 7, 7] * 5
COLUMNS = ("--human", "Points", "--predicted", "grader")
LOCKBOX = (
    Path(__file__).resolve().parents[2] / os.environ.get("SHARED_DATA", "../shared/data") / "gradingbench/lockbox_summary.json"
)
Written = Callable[[str, str], str]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(name: str, text: str) -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def rows(**more: Any) -> list[dict[str, Any]]:
    """Rows with marks as strings; `more`: additional columns with values to cycle through."""
    return [
        {"Points": str(mark), "grader": points, "problem": f"P{number % 4}"}
        | {name: values[number % len(values)] for name, values in more.items()}
        for number, (mark, points) in enumerate(zip(MARKS, PREDICTED, strict=True))
    ]


def csv_text(table: list[dict[str, Any]]) -> str:
    lines = [",".join(table[0]), *(",".join("" if value is None else str(value) for value in row.values()) for row in table)]
    return "\n".join(lines) + "\n"


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("agreement", *arguments, "--draws", "50", stdout=out)
    return out.getvalue()


def as_json(*arguments: str) -> Any:
    return json.loads(printed(*arguments, "--json"))["parts"]


def line(text: str, first: str) -> str:
    return next(row for row in text.splitlines() if row.startswith(f"│ {first}"))


def statistic(found: Any, slug: str) -> Any:
    return next(row["value"] for row in found["estimates"] if row["slug"] == slug)


def test_csv_jsonl_and_json_give_the_same_table(written: Written) -> None:
    table = rows()
    tables = {
        printed(written("a.csv", csv_text(table)), *COLUMNS, "--problem", "problem"),
        printed(written("a.jsonl", "\n".join(map(json.dumps, table))), *COLUMNS, "--problem", "problem"),
        printed(written("a.json", json.dumps(table)), *COLUMNS, "--problem", "problem"),
        printed(written("b.json", json.dumps({"about": "x", "inner": {"rows": table}})), *COLUMNS, "--problem", "problem"),
    }
    assert len(tables) == 1
    text = tables.pop()
    assert "0.625" in line(text, "Exact")
    assert "0.875" in line(text, "Within 1")
    assert "+0.500" in line(text, "Bias")
    assert "there are only 4 problems to draw from" in text


def test_null_predictions_are_unscored_and_never_zero(written: Written) -> None:
    table = [row | {"grader": None} if number < 5 else row for number, row in enumerate(rows())]
    (part,) = as_json(written("a.json", json.dumps(table)), *COLUMNS)
    (grader,) = part["graders"]
    assert grader["over_all"]["counts"]["pairs"] == 35
    assert [missing["reason"] for missing in grader["over_all"]["unscored"]] == ["there is no prediction"] * 5
    assert grader["over_all"]["accuracy"] == pytest.approx(grader["over_all"]["counts"]["same"] / 40)


def test_labels_are_converted_to_points_and_other_text_is_unscored_with_the_text(written: Written) -> None:
    words = {0: "Incorrect", 1: "partial", 7: "CORRECT"}
    table = [row | {"grader": words.get(row["grader"], "9 out of 7")} for row in rows()]
    text = printed(written("a.csv", csv_text(table)), *COLUMNS, "--labels", "incorrect=0, partial=1, correct=7")
    assert line(text, "unscored").split()[-2] == "10"
    assert "10 unscored: “9 out of 7” is neither points nor a label." in text


def test_a_decimal_comma_is_accepted_in_files_with_semicolons(written: Written) -> None:
    table = [row | {"Points": 3.5, "grader": 3.5 if number else 3} for number, row in enumerate(rows())]
    european = csv_text(table).replace(",", ";").replace("3.5", "3,5")
    text = printed(written("a.csv", european), *COLUMNS)
    assert line(text, "the same points").split()[-2] == "39"
    quoted = csv_text(table).replace("3.5", '"3,5"')
    with pytest.raises(CommandError, match="“3,5” is not points"):
        printed(written("b.csv", quoted), *COLUMNS)


@pytest.mark.parametrize(("given", "reason"), [(True, "“True” is neither"), (8, "8 is not from 0 to 7"), ("nan", "“nan”")])
def test_invalid_points_are_unscored(written: Written, given: Any, reason: str) -> None:
    table = [row | {"grader": given} if number == 3 else row for number, row in enumerate(rows())]
    (part,) = as_json(written("a.json", json.dumps(table)), *COLUMNS)
    (missing,) = part["graders"][0]["over_all"]["unscored"]
    assert missing["reason"].startswith(reason)
    assert missing["paper"] == "row 4"


def test_several_graders_come_from_several_columns_or_lists(written: Written) -> None:
    columns = printed(written("a.csv", csv_text(rows(other=[7]))), *COLUMNS, "--predicted", "other")
    assert "│ papers" not in columns
    assert line(columns, "with points on both sides").split()[-4:] == ["40", "│", "40", "│"]
    lists = {"variants": {"first": {"rows": rows()}, "second": {"rows": rows()}}}
    (part,) = as_json(written("a.json", json.dumps(lists)), *COLUMNS, "--rows", "variants.*.rows")
    assert [grader["name"] for grader in part["graders"]] == ["first", "second"]


def test_the_correlation_of_a_constant_grader_is_undefined_with_the_reason(written: Written) -> None:
    text = printed(written("a.csv", csv_text([row | {"grader": 7} for row in rows()])), *COLUMNS)
    assert "undefined" in line(text, "Pearson")
    assert "undefined: Pearson, Spearman: one side gives the same points to all." in text
    assert "nan" not in text.casefold()


def test_contaminated_marks_are_excluded_and_counted(written: Written) -> None:
    table = rows(seen=["no", "no", "made after a reveal", "no", "yes"])
    text = printed(written("a.csv", csv_text(table)), *COLUMNS, "--contaminated", "seen")
    assert line(text, "excluded").split()[-2] == "16"
    assert "8 excluded: made after a reveal." in text


def test_papers_by_students_and_by_models_have_separate_tables(written: Written) -> None:
    parts = as_json(written("a.csv", csv_text(rows(by=["student", "model"]))), *COLUMNS, "--author", "by")
    assert [(part["author"], part["graders"][0]["over_all"]["counts"]["pairs"]) for part in parts] == [
        ("model", 20),
        ("student", 20),
    ]
    text = printed(written("a.csv", csv_text(rows(by=["student", "model"]))), *COLUMNS, "--author", "by")
    assert "counts only, as there are fewer than 30 pairs" in text
    assert "QWK  " not in text


def test_splits_have_only_counts_for_few_pairs(written: Written) -> None:
    (part,) = as_json(written("a.csv", csv_text(rows(topic=["A", "A", "A", "A", "N"]))), *COLUMNS, "--split", "topic")
    splits = part["graders"][0]["splits"]["topic"]
    assert {name: (found["counts"]["pairs"], len(found["estimates"])) for name, found in splits.items()} == {
        "A": (32, 13),
        "N": (8, 0),
    }


def test_two_people_are_the_baseline_of_a_grader(written: Written) -> None:
    good = [row | {"second": row["Points"] if number % 7 else 3} for number, row in enumerate(rows())]
    text = printed(written("a.csv", csv_text(good)), *COLUMNS, "--second", "second", "--draws", "200")
    assert "two people" in text
    assert "grader: its intervals of QWK and AC2 overlap those of two people on the " in text
    bad = [row | {"grader": 7 - row["grader"]} for row in good]
    text = printed(written("b.csv", csv_text(bad)), *COLUMNS, "--second", "second", "--draws", "200")
    assert "it does not agree as well as a second marker" in " ".join(text.split())


def test_columns_of_runs_are_compared_by_their_mean_with_their_consistency(written: Written) -> None:
    table = [row | {"again": 7, "late": None} for row in rows()]
    path = written("a.json", json.dumps(table))
    (part,) = as_json(path, *COLUMNS, "--predicted", "again", "--predicted", "late", "--runs")
    (grader,) = part["graders"]
    assert grader["name"] == "mean of 3 runs"
    assert statistic(grader["over_all"], "bias") == pytest.approx((sum(PREDICTED) / 40 + 7) / 2 - sum(MARKS) / 40)
    assert (grader["consistency"]["papers"], grader["consistency"]["same"]) == (40, pytest.approx(15 / 40))
    text = printed(path, *COLUMNS, "--predicted", "again", "--runs")
    assert "This is consistency, not accuracy" in " ".join(text.split())
    (alone,) = as_json(path, "--human", "Points", "--predicted", "late", "--runs")
    assert alone["graders"][0]["consistency"] == {"reason": "no paper was scored twice"}
    assert len(alone["graders"][0]["over_all"]["unscored"]) == 40


def test_a_path_into_objects_is_a_column_and_a_factor_converts_shares_to_points(written: Written) -> None:
    table = [{"answer": {"mark": mark, "mean": points / 7}} for mark, points in zip(MARKS, PREDICTED, strict=True)]
    path = written("a.json", json.dumps(table))
    (part,) = as_json(path, "--human", "answer.mark", "--predicted", "answer.mean", "--times", "7")
    assert statistic(part["graders"][0]["over_all"], "bias") == pytest.approx(0.5)


def test_half_points_add_categories_that_are_reported(written: Written) -> None:
    half = [row | {"Points": "3.5"} if number == 4 else row for number, row in enumerate(rows())]
    path = written("a.csv", csv_text(half))
    assert "half points from 0 to 7, 15 categories." in printed(path, *COLUMNS)
    whole = printed(path, *COLUMNS, "--points", "whole")
    assert "whole points from 0 to 7, 8 categories; values rounded to them, halves up: 1." in " ".join(whole.split())


def test_another_scale_must_be_given(written: Written) -> None:
    tens = [row | {"Points": "10"} for row in rows()]
    path = written("a.csv", csv_text(tens))
    with pytest.raises(CommandError, match=r"Row 1: 10 is not from 0 to 7\. Set another scale with --scale"):
        printed(path, *COLUMNS)
    assert "whole points from 0 to 10, 11 categories" in printed(path, *COLUMNS, "--scale", "0:10")


@pytest.mark.parametrize(
    ("name", "text", "arguments", "words"),
    [
        ("a.csv", "Points,grader\n7,7\n", ("--human", "Marks"), "No column “Marks”. Choose from: Points, grader"),
        ("a.csv", "Points,grader\nseven,7\n", (), "Row 1: “seven” is not points"),
        ("a.csv", "Points,grader\n7\n", (), "Unreadable rows: 1; nothing was read. The first one is row 1"),
        ("a.csv", "", (), "The file is empty"),
        ("a.json", "[1, 2]", (), "not a list of objects"),
        ("a.json", "[{", (), "The file is not valid JSON"),
        ("a.json", '{"a": {"x": [{"b": 1}], "y": [{"b": 1}]}}', (), "Set --rows to one of these lists: a.x, a.y"),
        ("a.json", '{"a": [{"b": 1}]}', ("--rows", "c"), "no “c” at this path. Choose from: a"),
        ("a.csv", "Points,grader\n7,7\n", ("--rows", "a"), "A path of rows is for JSON files only"),
        ("a.csv", "Points,grader\n7,7\n7,7\n", ("--paper", "grader"), "duplicate paper “7”"),
        ("a.csv", "Points,grader\n7,7\n", ("--labels", "correct"), "“correct” is not of the form word=points"),
        ("a.csv", "Points,grader\n7,7\n", ("--scale", "7"), "is not a scale in whole points"),
        ("a.csv", "Points,grader\n7,7\n", ("--seed", "-1"), "--seed not negative"),
        ("a.csv", "Points,grader\n7,7\n", ("--times", "0"), "must be a number above 0"),
        ("a.csv", "Points,grader\n7,7\n", ("--times", "nan"), "must be a number above 0"),
        ("a.csv", "Points,grader,by\n7,7,model\n", ("--author", "by", "--split", "by"), "already has separate tables"),
    ],
)
def test_unsuitable_files_and_options_are_refused_with_a_remedy(
    written: Written, name: str, text: str, arguments: tuple[str, ...], words: str
) -> None:
    with pytest.raises(CommandError) as refused:
        printed(written(name, text), *COLUMNS, *arguments)
    assert words in str(refused.value)


@pytest.mark.shared_data
@pytest.mark.skipif(not LOCKBOX.exists(), reason="SHARED_DATA holds no gradingbench")
def test_the_command_prints_the_golden_values_of_the_lockbox() -> None:
    labels = "incorrect=0,partial=1,almost=6,correct=7"
    columns = ("--human", "Points", "--predicted", "prediction", "--problem", "Problem ID", "--paper", "Grading ID")
    text = printed(str(LOCKBOX), "--rows", "variants.*.predictions", *columns, "--labels", labels, "--each-on-its-own")
    for title, baseline, final in (
        ("Pearson", "0.653", "0.770"),
        ("Spearman", "0.664", "0.765"),
        ("MAE", "1.475", "0.930"),
        ("RMSE", "2.937", "2.335"),
        ("Bias", "+1.172", "+0.770"),
        ("QWK", "0.613", "0.748"),
        ("Gwet's AC2", "0.574", "0.721"),
        ("Scott's π", "0.601", "0.745"),
        ("Within 1", "0.788", "0.870"),
        ("exact, unscored counted as wrong", "64 of 100 = 0.640", "77 of 100 = 0.770"),
    ):
        cells = [cell.strip() for cell in line(text, title).split("│")[2:4]]
        assert [cell.split("  ")[0] for cell in cells] == [baseline, final]
    assert "baseline: 1 unscored: there is no prediction." in text


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(CommandError, match=r"Could not read /nowhere/marks\.csv: No such file"):
        printed("/nowhere/marks.csv", *COLUMNS)


def test_a_column_and_a_value_with_brackets_are_printed_literally(written: Written) -> None:
    table = [row | {"[bold]": "[/x] topic"} for row in rows()]
    text = printed(written("a.json", json.dumps(table)), *COLUMNS, "--split", "[bold]")
    assert "[/x] topic" in text
    assert "by [bold]" in text
