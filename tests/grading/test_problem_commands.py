"""Commands about many problems: load benchmarks, filter problems, measure difficulty; no run is started twice."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from apps.preparation import problem_commands
from apps.preparation.models import BenchmarkText
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.ports import Dispatcher
from apps.runs.journal.run_journal import RunJournal
from apps.runs.models import Run
from tests.graders.grade import grading
from tests.graders.programs import PROOF, quality
from tests.grading.test_grade_command import MODELS
from tests.grading.test_quality_and_difficulty import CLOTHED, STATEMENT
from tests.problems.factory import csv_file, make_problem
from tests.reasoning.play import Answer, TableDispatcher

pytestmark = pytest.mark.django_db(transaction=True)
Table = dict[str, Answer | Callable[[GenerationRequest], Answer]]
ASKED: list[str] = []


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch, settings: LazySettings, tmp_path: Path) -> Table:
    """The model's answers by pattern of call keys, without a running stack."""
    settings.MODELS_FILE = tmp_path / "models.toml"
    settings.MODELS_FILE.write_text(MODELS)
    answers: Table = {}

    @contextlib.asynccontextmanager
    async def served(_run: Run, _journal: RunJournal) -> AsyncIterator[Dispatcher]:
        dispatcher = TableDispatcher(answers)
        yield dispatcher
        ASKED.extend(dispatcher.keys)

    ASKED.clear()
    monkeypatch.setattr(problem_commands, "is_stack_up", lambda: False)
    monkeypatch.setattr(problem_commands, "_model_servers", served)
    return answers


def printed(name: str, *args: Any, **options: Any) -> str:
    out = StringIO()
    call_command(name, *args, stdout=out, stderr=out, **options)
    return out.getvalue()


def test_problems_are_kept_or_excluded_with_their_reasons(table: Table, tmp_path: Path) -> None:
    bench, out = tmp_path / "bench.csv", tmp_path / "out.jsonl"
    bench.write_bytes(csv_file(["id", "problem"], ["B1", CLOTHED], ["B2", ""]))
    assert "Stored 1 problems of Bench; skipped 1 rows" in printed("load_benchmark", "Bench", str(bench), "--id", "id")
    good, flagged = make_problem("Good"), make_problem("Flagged")
    same, late = make_problem("Same", statement=STATEMENT), make_problem("Late", year=2025)
    make_problem("Bare", solutions=())
    table["*"] = lambda request: quality("gaps") if "About Flagged" in str(request.messages) else quality()
    output = printed("filter_problems", "--all", "--samples", "3", "--year-from", "2025", "--out", str(out))
    assert "bare: There is no solution to examine" in output
    rows = {row["problem"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert (rows[good.slug]["keep"], rows[flagged.slug]["reasons"]) == (True, ["gaps"])
    assert (rows[same.slug]["reasons"], rows[late.slug]["reasons"]) == (["same as Bench B1"], ["year 2025"])
    assert rows["bare"]["keep"] is None
    assert rows[flagged.slug]["flags"]["gaps"] == {"yes": 3, "of": 3, "stands": True}
    assert "1 kept, 3 excluded, 1 unknown." in output
    assert len(ASKED) == 12


def test_repeating_a_command_makes_no_call_and_another_number_repeats_the_run(table: Table) -> None:
    problem = make_problem()
    table["*"] = quality()
    printed("filter_problems", problem.slug, "--samples", "2")
    assert "1 of 1 were already started." in printed("filter_problems", problem.slug, "--samples", "2")
    assert (len(ASKED), Run.objects.count()) == (2, 1)
    printed("filter_problems", problem.slug, "--samples", "2", "--again", "1")
    assert (len(ASKED), Run.objects.count()) == (4, 2)


def test_an_estimate_and_results_start_nothing(table: Table) -> None:
    problem = make_problem()
    assert "1 runs. About 5 calls" in printed("filter_problems", problem.slug, "--estimate")
    assert "unknown" in printed("filter_problems", problem.slug, "--results")
    assert "About 256 calls" in printed("measure_difficulty", problem.slug, "--estimate", "--workflow", "single_turn")
    assert not Run.objects.exists()


def test_difficulties_of_several_problems_are_listed_from_the_easiest(table: Table, tmp_path: Path) -> None:
    hard, easy, out = make_problem("Hard"), make_problem("Easy"), tmp_path / "out.jsonl"
    table |= {"*/solve": PROOF, "*": lambda request: grading(7 if "About Easy" in str(request.messages) else 1)}
    output = printed(
        "measure_difficulty", hard.slug, easy.slug, "--attempts", "3", "--workflow", "single_turn", "--out", str(out)
    )
    assert output.index("easy: 7.00 [all the same] of 7, 3 of 3 scored") < output.index("hard: 1.00")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {row["problem"]: row["points"] for row in rows} == {"hard": [1.0] * 3, "easy": [7.0] * 3}


def test_invalid_arguments_are_refused_before_anything_starts(table: Table, settings: LazySettings, tmp_path: Path) -> None:
    problem = make_problem()
    cases: list[tuple[tuple[str, ...], str]] = [
        (("filter_problems",), "Name problems"),
        (("filter_problems", "no-such"), "No problem no-such in the library"),
        (("filter_problems", "--origin", "nowhere"), "No problem matches"),
        (("filter_problems", problem.slug, "--alias", "oracle"), "No model oracle in models.toml"),
        (("load_benchmark", "B", str(tmp_path / "none.csv")), "Could not read"),
    ]
    for args, why in cases:
        with pytest.raises(CommandError, match=why):
            printed(*args)
    problems = [make_problem(f"P{number}").slug for number in range(4)]
    with pytest.raises(CommandError, match="Add --yes"):
        printed("measure_difficulty", *problems, "--attempts", "1024", "--workflow", "single_turn")
    settings.MODELS_FILE.write_text('[inner]\nbackend = "openvino"\ntitle = "Inner"\nmodel = "m"\ncontext_tokens = 2048\n')
    with pytest.raises(CommandError, match="Start the stack"):
        printed("filter_problems", problem.slug)
    assert not Run.objects.exists()
    assert not BenchmarkText.objects.exists()
