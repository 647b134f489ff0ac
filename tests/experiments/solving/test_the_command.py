"""`manage.py experiment`: the same file starts an experiment, continues it and adds to it; the table has every method."""

from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command

from apps.experiments.models import Experiment
from tests.cast import person
from tests.experiments.driving import Stage
from tests.experiments.solving.playing import make_problem_set, states
from tests.grading.test_grade_command import MODELS
from tests.reasoning.play import proof

pytestmark = pytest.mark.django_db(transaction=True)
FILE = """
title = "Sums"
problems.set = "sums@1"
[[methods]]
name = "single"
scaffold = "single_call"
[[teams]]
name = "served"
roles = { "" = "served" }
[[scorers]]
name = "answer"
kind = "answer"
"""


@pytest.fixture
def answers() -> dict[str, object]:
    return {"*": proof("We add.", "So it is.\nAnswer: 1")}


def command(*words: str, **options: object) -> str:
    out = StringIO()
    call_command("experiment", *words, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sums.toml"
    path.write_text(FILE)
    return path


def test_a_file_starts_continues_and_extends_an_experiment(stage: Stage, file: Path) -> None:
    make_problem_set(2)
    person("alice")
    assert "Sums: 2 cells" in command("run", str(file), "--owner", "alice")
    experiment = stage.play(Experiment.objects.get())
    assert "0 cells added to 2" in command("run", str(file), "--owner", "alice")
    assert stage.play(experiment).pk == experiment.pk
    file.write_text(FILE.replace("problems.set", "repeats = 2\nproblems.set"))
    assert "2 cells added to 2" in command("run", str(file), "--owner", "alice")
    assert states(stage.play(experiment)) == {"finished": 4}
    table = command("table", "Sums")
    assert "answer on 2 problems" in table
    assert "single · served · budget 0: 50.0 % of 4 scores; 1.0 calls" in table


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("title = ", "not valid TOML"),
        (FILE.replace("single_call", 'single_call"\nbudget = "1'), "methods.0.budget: there is no such field"),
        (FILE.replace("sums@1", "sums"), "problems.set"),
        (FILE.replace("sums@1", "none@1"), "There is no problem set none@1"),
        (f"format = 2\n{FILE}", "reads manifests of format 1; this one has format 2. Write format = 1"),
        (FILE.replace("title", "titel"), r"titel: there is no such field\. Similar: title\."),
        (FILE.replace('scaffold = "s', 'skaffold = "s'), r"methods\.0\.skaffold: there is no such field\. Similar: scaffold\."),
        (FILE.replace('@1"', '@1"\nproblems.names = ["sum-11"]'), r"sums@1 has no problem sum-11\. Similar: sum-1\."),
        (FILE + '[[methods]]\nname = "single"\nscaffold = "rsa"\n', "the name single is used twice"),
        (FILE.replace('title = "Sums"', 'title = "Sums"\nbaseline = "rsa"'), "the baseline rsa is no method"),
        (FILE.replace('kind = "answer"', 'kind = "grader"'), "needs a workflow"),
        (
            FILE.replace('"single_call"', '"alpha_apollo"\nparams = { earlier_lemmas = "topic" }'),
            r"methods\.0\.params: earlier_lemmas must be none in an experiment",
        ),
    ],
)
def test_a_wrong_manifest_starts_nothing_and_is_explained(file: Path, text: str, reason: str) -> None:
    make_problem_set(1)
    file.write_text(text)
    with pytest.raises(CommandError, match=reason):
        command("run", str(file))
    assert not Experiment.objects.exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (('= "served"', '= "serfed"'), "names serfed, and no enabled model has this name. Similar: served"),
        (('{ "" =', '{ "" = "served", verifer ='), "No method has the role verifer of the team served"),
        (("single_call", "single_cal"), "The method single cannot run. Unknown scaffold single_cal"),
        (
            ('kind = "answer"', 'kind = "grader"\nworkflow = "none"\nplayers = { "" = "served" }'),
            "cannot grade. No grader",
        ),
        (('kind = "answer"', 'kind = "grader"\nworkflow = "single_turn"\nplayers = { "" = "gone" }'), "No grading model gone"),
    ],
)
def test_what_can_never_run_starts_nothing_and_is_not_added(file: Path, change: tuple[str, str], reason: str) -> None:
    make_problem_set(1)
    file.write_text(FILE.replace(*change))
    with pytest.raises(CommandError, match=f"Nothing was started.*{reason}"):
        command("run", str(file))
    assert not Experiment.objects.exists()


def test_an_extension_looks_only_at_what_it_adds(stage: Stage, file: Path, settings: LazySettings) -> None:
    make_problem_set(1)
    command("run", str(file))
    settings.MODELS_FILE.write_text(MODELS.replace("[served]", "[other]"))
    file.write_text(FILE.replace("problems.set", "repeats = 2\nproblems.set"))
    assert "1 cells added to 1" in command("run", str(file))
    file.write_text(FILE + '[[scorers]]\nname = "grader"\nkind = "grader"\nworkflow = "none"\nplayers = { "" = "other" }\n')
    with pytest.raises(CommandError, match="The scorer grader cannot grade"):
        command("run", str(file))


def test_other_conflicts_are_printed_before_the_start(file: Path) -> None:
    make_problem_set(1)
    text = FILE.replace("single_call", "majority_vote") + "[[budgets]]\ncalls = 1\n"
    file.write_text(text + '[prices]\nother = { input = 1, output = 1, date = "2026-11-01" }\n')
    said = command("run", str(file))
    assert "conflict: single needs at least" in said
    assert "conflict: served has no price, so its rows show no money." in said
    assert said.index("conflict") < said.index("Sums: 1 cells")


def test_an_unknown_owner_title_or_scorer_is_explained(stage: Stage, file: Path) -> None:
    make_problem_set(1)
    with pytest.raises(CommandError, match="no user missing"):
        command("run", str(file), "--owner", "missing")
    command("run", str(file))
    person("alice")
    with pytest.raises(CommandError, match="belongs to another user"):
        command("run", str(file), "--owner", "alice")
    with pytest.raises(CommandError, match="Its scorers: answer"):
        command("table", "Sums", "--scorer", "people")
    with pytest.raises(CommandError, match="no experiment “None”"):
        command("table", "None")
    with pytest.raises(CommandError, match="cannot be read"):
        command("run", "/nowhere.toml")
