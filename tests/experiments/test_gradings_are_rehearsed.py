"""An experiment on grading is rehearsed in the terminal: a row for each script, which the agreement command reads."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import User
from apps.experiments.models import CellState
from apps.experiments.scripts import Chosen
from apps.experiments.services import ExperimentDraft, experiment_create
from apps.graded_sets.models import HumanScore
from apps.runs.models import Run
from tests.experiments.driving import make_experiment, make_set
from tests.marks.factory import problem_to_mark

pytestmark = pytest.mark.django_db
PERFECT = '[[skills]]\njudgement = "perfect"\nunreadable = 0\nspread = 0\n'


def rehearsed(tmp_path: Path, skills: str = PERFECT, title: str = "Trial") -> list[dict[str, object]]:
    """The rows that the command prints."""
    (tmp_path / "skills.toml").write_text(skills)
    out = StringIO()
    call_command("experiment", "rehearse-gradings", title, "--skills", str(tmp_path / "skills.toml"), stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_perfect_graders_give_the_points_of_people_and_nothing_is_run(alice: User, tmp_path: Path) -> None:
    experiment = make_experiment(alice, make_set(4, 2), "single_turn", "ref5_hybrid")
    HumanScore.objects.filter(script__name="S4").update(points=5, out_of=10)
    rows = rehearsed(tmp_path)
    assert [row["human"] for row in rows] == [0, 1, 2, 3.5]
    assert [row["single_turn@served"] for row in rows[:3]] == [row["ref5_hybrid@served"] for row in rows[:3]] == [0, 1, 2]
    assert rows[3]["single_turn@served"] in (3, 4)
    assert (Run.objects.count(), set(experiment.cells.values_list("state", flat=True))) == (0, {CellState.WAITING})


def test_scripts_without_points_and_cells_that_cannot_be_graded_say_why(alice: User, tmp_path: Path) -> None:
    make_experiment(alice, make_set(2, 2), "single_turn", "gimo")
    HumanScore.objects.filter(script__name="S2").delete()
    first, second = rehearsed(tmp_path)
    assert (first["single_turn@served"], first["gimo@served"], second["single_turn@served"]) == (0, None, None)
    assert "marking scheme" in str(first["unscored"])
    assert "cannot judge" in str(second["unscored"])


def test_the_rows_are_a_file_for_the_agreement_command(alice: User, tmp_path: Path) -> None:
    make_experiment(alice, make_set(30, 5), "single_turn")
    rows = rehearsed(tmp_path, "[[skills]]\nspots = 0.9\n")
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    out = StringIO()
    asked = ["--human", "human", "--predicted", "single_turn@served", "--problem", "problem", "--paper", "paper", "--json"]
    call_command("agreement", str(tmp_path / "rows.jsonl"), *asked, stdout=out)
    (part,) = json.loads(out.getvalue())["parts"]
    found = {one["slug"]: one["value"] for one in part["graders"][0]["over_all"]["estimates"]}
    assert 0 < found["mae"] < 2
    assert rehearsed(tmp_path, "[[skills]]\nspots = 0.9\n") == rows


def test_experiments_on_contests_unknown_titles_and_wrong_skills_are_refused(alice: User, bob: User, tmp_path: Path) -> None:
    make_experiment(alice, make_set(1), "single_turn")
    with pytest.raises(CommandError, match="There is no experiment “Another”"):
        rehearsed(tmp_path, title="Another")
    with pytest.raises(CommandError, match="spots: write a number of at most 1"):
        rehearsed(tmp_path, "[[skills]]\nspots = 2\n")
    problem = problem_to_mark(alice, bob)
    draft = ExperimentDraft("In a contest", Chosen(contest=problem.contest), ["single_turn"], ["served"])
    experiment_create(owner=alice, draft=draft)
    with pytest.raises(CommandError, match="Only gradings of a set can be rehearsed"):
        rehearsed(tmp_path, title="In a contest")
