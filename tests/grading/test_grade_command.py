"""`manage.py grade`: grade scripts of a file or submitted versions, resume, and read the output with `agreement`."""

import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from apps.graders.management.commands import grade
from apps.graders.models import PreparedPiece
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
    """The model's answers by pattern of call keys."""
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
    output = run(scripts, tmp_path / "out.jsonl")
    found = rows(tmp_path / "out.jsonl")
    assert [row["paper"] for row in sorted(found, key=lambda row: row["paper"])] == ["P1", "P2", "P3"]
    assert all(row["points"] == 2 and row["calls"] == 1 and row["completion_tokens"] == 5 for row in found)
    assert found[0]["findings"][0]["step"] == 2
    assert "3 scripts. About 3 calls" in output
    assert "3 scripts, 0 of them unscored; 3 calls, 45 tokens." in output


def test_problems_without_a_name_are_distinguished_by_their_statements(table: Table, tmp_path: Path) -> None:
    given = [{"id": f"P{number}", "problem": text, "script": "It is so.", "mark": 1} for number, text in enumerate("AAB")]
    path = tmp_path / "nameless.jsonl"
    path.write_text("\n".join(map(json.dumps, given)))
    table["*"] = "turtles"
    output = run(path, tmp_path / "out.jsonl", "--problem", "")
    names = {one["paper"]: one["problem"] for one in rows(tmp_path / "out.jsonl")}
    assert names["P0"] == names["P1"] != "problem"
    assert names["P2"] not in ("problem", names["P0"])
    assert "3 scripts, 3 of them unscored" in output


def test_an_unreadable_answer_gives_null_points_with_the_reason_and_the_text(
    table: Table, scripts: Path, tmp_path: Path
) -> None:
    table["*"] = "I like turtles."
    run(scripts, tmp_path / "out.jsonl")
    row = rows(tmp_path / "out.jsonl")[0]
    assert row["points"] is None
    assert "asked again" in row["unscored"]
    assert row["raw"] == "I like turtles."


def test_agreement_reads_the_output(table: Table, scripts: Path, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    run(scripts, tmp_path / "out.jsonl")
    out = StringIO()
    call_command(
        "agreement", str(tmp_path / "out.jsonl"), "--human", "mark", "--predicted", "points", "--problem", "problem",
        "--paper", "paper", "--json", stdout=out,
    )  # fmt: skip
    assert "P3" in out.getvalue()


def test_further_scripts_of_a_problem_cost_two_calls_also_in_a_later_run(table: Table, scripts: Path, tmp_path: Path) -> None:
    table.update(FOLLOWS)
    references = ["--reference", "one", "--reference", "two", "--reference", "three"]
    output = run(scripts, tmp_path / "out.jsonl", *references, workflow="ref5_plain")
    assert (
        "3 scripts, 0 of them unscored; 6 calls, 90 tokens.\nTo prepare the problems, once each: 3 calls, 45 tokens." in output
    )
    assert sorted(row["calls"] for row in rows(tmp_path / "out.jsonl")) == [2, 2, 5]
    assert sorted(row["prepared"]["calls"] for row in rows(tmp_path / "out.jsonl")) == [0, 0, 3]
    assert PreparedPiece.objects.count() == 3
    output = run(scripts, tmp_path / "later.jsonl", *references, "--seed", "1", workflow="ref5_plain")
    assert [row["calls"] for row in rows(tmp_path / "later.jsonl")] == [2, 2, 2]
    assert [row["pieces_reused"] for row in rows(tmp_path / "later.jsonl")] == [3, 3, 3]
    assert "About 6 calls" in output
    assert "To prepare" not in output


def test_scripts_in_the_output_are_not_graded_again(table: Table, scripts: Path, tmp_path: Path) -> None:
    table["grade"] = grading(2)
    run(scripts, tmp_path / "out.jsonl")
    ASKED.clear()
    assert "3 of 3 are already in the output." in run(scripts, tmp_path / "out.jsonl")
    assert ASKED == []
    run(scripts, tmp_path / "out.jsonl", "--temperature", "0.9")
    assert len(ASKED) == 3


def test_a_stopped_run_continues_without_repeating_calls(table: Table, scripts: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    references = ["--reference", "one", "--reference", "two", "--at-once", "1"]
    table.update({"grade/*": BackendRefused("The key is wrong."), **FOLLOWS})
    with pytest.raises(CommandError, match=r"The key is wrong.*Repeat the command to continue"):
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


def test_an_estimate_makes_no_call(table: Table, scripts: Path, tmp_path: Path) -> None:
    output = run(scripts, tmp_path / "out.jsonl", "--reference", "one", "--estimate", workflow="ref5_plain")
    assert "About 5 calls" in output
    assert ASKED == []
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (("--alias", "oracle"), "No model oracle in models.toml"),
        (("--alias", "poet=served"), "has no role poet"),
        (("--script", "essay"), "No column"),
        (("--set", "runs"), "NAME=VALUE"),
        (("--set", "turns=3"), "P1: turns"),
        (("--submission", "1"), "Give either a file or --submission"),
        (("--keep", "grade"), "No column"),
    ],
)
def test_invalid_options_are_refused_before_any_call(
    table: Table, scripts: Path, tmp_path: Path, more: tuple[str, ...], why: str
) -> None:
    with pytest.raises(CommandError, match=why):
        run(scripts, tmp_path / "out.jsonl", *more)
    assert ASKED == []


def test_missing_material_is_reported_with_the_paper(table: Table, scripts: Path, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="P1: With a reference needs a reference solution"):
        run(scripts, tmp_path / "out.jsonl", workflow="ref3")


def test_a_file_that_is_not_an_output_is_not_changed(table: Table, scripts: Path, tmp_path: Path) -> None:
    out = tmp_path / "notes.txt"
    out.write_text("Buy milk.\n")
    with pytest.raises(CommandError, match="not an output of a grading"):
        run(scripts, out)
    assert out.read_text() == "Buy milk.\n"
