"""Scripts with markup are converted to rows with findings and points; graded scripts are written with markup."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.reasoning.marking.span_markup import markup_read
from tests.graders.grade import SCRIPT, finding, grading
from tests.grading import test_grade_command as command

table, scripts = command.table, command.scripts
MARKED = 'Fine.\n\n<span class="proof-by-example">It holds for $n=1$, so always.</span>'


def read(tmp_path: Path, rows: list[dict[str, Any]], *more: str) -> tuple[str, list[dict[str, Any]]]:
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    written, out = StringIO(), tmp_path / "out.jsonl"
    call_command("read_markup", str(tmp_path / "in.jsonl"), "--text", "proof", "--out", str(out), *more, stdout=written)
    return written.getvalue(), [json.loads(line) for line in out.read_text().splitlines()]


def test_a_script_with_markup_is_converted_to_text_findings_and_points(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": "a", "proof": MARKED, "grade": "3"}, {"id": "b", "proof": "x</span>", "grade": 1}]
    text, (one, other) = read(tmp_path, rows, "--grade", "grade", "--keep", "id")
    assert "2 scripts, 1 findings, 1 places with unreadable markup" in text
    assert (one["id"], one["points"], other["points"]) == ("a", 5.0, 1.0)
    (found,) = one["findings"]
    assert (found["step"], found["fallacy"]) == (2, "proof-by-example")
    assert "span" not in one["script"]
    assert other["markup_faults"] == ["a span is closed that was never opened"]


@pytest.mark.parametrize("grade", ["5", "", "2.5", "good"])
def test_an_invalid_grade_is_refused_with_its_row(tmp_path: Path, grade: str) -> None:
    with pytest.raises(CommandError, match="Row 1"):
        read(tmp_path, [{"proof": MARKED, "grade": grade}, {"proof": MARKED, "grade": 4}], "--grade", "grade")


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="No column “proof”"):
        read(tmp_path, [{"text": MARKED}, {"text": MARKED}])


@pytest.mark.django_db
def test_a_graded_script_is_written_with_markup(table: command.Table, scripts: Path, tmp_path: Path) -> None:
    table["grade"] = grading(2, finding())
    command.run(scripts, tmp_path / "out.jsonl")
    marked = markup_read(command.rows(tmp_path / "out.jsonl")[0]["markup"])
    assert marked.source.startswith(SCRIPT)
    (place,) = marked.places
    assert marked.source[place.start : place.end] == "so it is even for all $n$"
