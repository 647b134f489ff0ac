"""`manage.py grade`: scripts of a file or handed in, graded, resumed, and read again by `agreement`."""

import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from apps.grading.management.commands import grade
from apps.grading.models import PreparedPiece
from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.ports import Dispatcher
from tests.graders.answers import FOLLOWS
from tests.graders.grade import REFERENCES, SCRIPT, finding, grading
from tests.reasoning.play import Answer, TableDispatcher

MODELS = """
[served]
backend = "openai_http"
title = "A server"
model = "m-1"
base_url = "http://127.0.0.1:9/v1"
context_tokens = 32768
"""
pytestmark = pytest.mark.django_db
Table = dict[str, Answer | Callable[[GenerationRequest], Answer]]


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, settings: LazySettings, tmp_path: Path) -> Table:
    """What the model answers, by call; `table["asked"]` is no key of a call and never asked for."""
    models = tmp_path / "models.toml"
    models.write_text(MODELS)
    settings.MODELS_FILE = models
    answers: Table = {}

    @asynccontextmanager
    async def served(_aliases: Iterable[Alias]) -> AsyncIterator[Callable[[str, Any], Any]]:
        @asynccontextmanager
        async def one(_run: str, _journal: object) -> AsyncIterator[Dispatcher]:
            dispatcher = TableDispatcher(answers)
            yield dispatcher
            ASKED.extend(dispatcher.keys)

        yield one

    ASKED.clear()
    monkeypatch.setattr(grade, "model_servers", served)
    return answers


ASKED: list[str] = []


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    rows = [
        {"id": f"P{number}", "task": "T1", "problem": "Prove it.", "script": f"{SCRIPT}\n\nVersion {number}.", "mark": number,
         "one": REFERENCES[0], "two": REFERENCES[1], "three": REFERENCES[2]}
        for number in range(1, 4)
    ]  # fmt: skip
    path = tmp_path / "scripts.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def run(file: Path | None, out: Path, *more: str, workflow: str = "single_turn") -> str:
    written = StringIO()
    named = ["--workflow", workflow, "--out", str(out), "--alias", "served"]
    columns = ["--paper", "id", "--problem", "task", "--keep", "mark"] if file else []
    call_command("grade", *([str(file)] if file else []), *named, *columns, *more, stdout=written)
    return written.getvalue()


def rows(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_each_script_becomes_a_row_with_points_reasons_and_cost(table: Table, scripts: Path, tmp_path: Path) -> None:
    table["grade"] = grading(2, finding())
    said = run(scripts, tmp_path / "out.jsonl")
    found = rows(tmp_path / "out.jsonl")
    assert [row["paper"] for row in sorted(found, key=lambda row: row["paper"])] == ["P1", "P2", "P3"]
    assert all(row["points"] == 2 and row["calls"] == 1 and row["completion_tokens"] == 5 for row in found)
    assert found[0]["findings"][0]["step"] == 2
    assert "3 scripts. About 3 calls" in said
    assert "3 scripts, 0 of them unscored; 3 calls, 45 tokens." in said


def test_problems_without_a_name_are_told_apart_by_their_statements(table: Table, tmp_path: Path) -> None:
    given = [{"id": f"P{number}", "problem": text, "script": "It is so.", "mark": 1} for number, text in enumerate("AAB")]
    path = tmp_path / "nameless.jsonl"
    path.write_text("\n".join(map(json.dumps, given)))
    table["*"] = "turtles"
    said = run(path, tmp_path / "out.jsonl", "--problem", "")
    names = {one["paper"]: one["problem"] for one in rows(tmp_path / "out.jsonl")}
    assert names["P0"] == names["P1"] != "problem"
    assert names["P2"] not in ("problem", names["P0"])
    assert "3 scripts, 3 of them unscored" in said


def test_what_cannot_be_read_is_null_with_the_reason_and_the_text(table: Table, scripts: Path, tmp_path: Path) -> None:
    table["*"] = "I like turtles."
    run(scripts, tmp_path / "out.jsonl")
    row = rows(tmp_path / "out.jsonl")[0]
    assert row["points"] is None
    assert "asked again" in row["unscored"]
    assert row["raw"] == "I like turtles."


def test_agreement_takes_the_output_as_it_is(table: Table, scripts: Path, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    run(scripts, tmp_path / "out.jsonl")
    told = StringIO()
    call_command(
        "agreement", str(tmp_path / "out.jsonl"), "--human", "mark", "--predicted", "points", "--problem", "problem",
        "--paper", "paper", "--json", stdout=told,
    )  # fmt: skip
    assert "P3" in told.getvalue()


def test_the_second_script_of_a_problem_costs_two_calls_and_so_does_the_next_day(
    table: Table, scripts: Path, tmp_path: Path
) -> None:
    table.update(FOLLOWS)
    references = ["--reference", "one", "--reference", "two", "--reference", "three"]
    said = run(scripts, tmp_path / "out.jsonl", *references, workflow="ref5_plain")
    assert "3 scripts, 0 of them unscored; 6 calls, 90 tokens.\nPrepared once for the problems: 3 calls, 45 tokens." in said
    assert sorted(row["calls"] for row in rows(tmp_path / "out.jsonl")) == [2, 2, 5]
    assert sorted(row["prepared"]["calls"] for row in rows(tmp_path / "out.jsonl")) == [0, 0, 3]
    assert PreparedPiece.objects.count() == 3
    said = run(scripts, tmp_path / "later.jsonl", *references, "--seed", "1", workflow="ref5_plain")
    assert [row["calls"] for row in rows(tmp_path / "later.jsonl")] == [2, 2, 2]
    assert [row["pieces_reused"] for row in rows(tmp_path / "later.jsonl")] == [3, 3, 3]
    assert "About 6 calls" in said
    assert "Prepared" not in said


def test_what_is_in_the_output_is_not_graded_again(table: Table, scripts: Path, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    run(scripts, tmp_path / "out.jsonl")
    ASKED.clear()
    assert "3 of 3 are in the output already." in run(scripts, tmp_path / "out.jsonl")
    assert ASKED == []
    run(scripts, tmp_path / "out.jsonl", "--temperature", "0.9")
    assert len(ASKED) == 3


def test_a_run_that_was_stopped_goes_on_and_asks_nothing_twice(table: Table, scripts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    references = ["--reference", "one", "--reference", "two", "--at-once", "1"]
    table.update({"grade/*": BackendRefused("The key is wrong."), **FOLLOWS})
    with pytest.raises(CommandError, match=r"The key is wrong.*goes on from there"):
        run(scripts, out, *references, workflow="ref5_plain")
    assert rows(out) == []
    kept = Path(f"{out}.calls").read_text()
    assert len(kept.splitlines()) == 4
    Path(f"{out}.calls").write_text(kept + '{"run": "x", "rec')
    ASKED.clear()
    del table["grade/*"]
    run(scripts, out, *references, workflow="ref5_plain")
    assert ASKED[0] == "grade/ref5_plain"
    assert len(rows(out)) == 3


def test_an_estimate_asks_nobody(table: Table, scripts: Path, tmp_path: Path) -> None:
    said = run(scripts, tmp_path / "out.jsonl", "--reference", "one", "--estimate", workflow="ref5_plain")
    assert "About 5 calls" in said
    assert ASKED == []
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--alias", "oracle"), "There is no model oracle"),
        (("--alias", "poet=served"), "has no role poet"),
        (("--script", "essay"), "There is no column"),
        (("--set", "runs"), "NAME=VALUE"),
        (("--set", "turns=3"), "P1: turns"),
        (("--submission", "1"), "Give a file, or --submission"),
        (("--keep", "grade"), "There is no column"),
    ],
)
def test_what_cannot_be_done_is_said_before_anybody_is_asked(
    table: Table, scripts: Path, tmp_path: Path, more: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        run(scripts, tmp_path / "out.jsonl", *more)
    assert ASKED == []


def test_a_grader_that_lacks_something_names_the_paper(table: Table, scripts: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="P1: Beside a reference needs a reference solution"):
        run(scripts, tmp_path / "out.jsonl", workflow="ref3")


def test_a_file_that_is_no_output_is_not_written_to(table: Table, scripts: Path, tmp_path: Path) -> None:
    out = tmp_path / "notes.txt"
    out.write_text("Buy milk.\n")
    with pytest.raises(CommandError, match="no output of a grading"):
        run(scripts, out)
    assert out.read_text() == "Buy milk.\n"
