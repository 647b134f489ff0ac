"""A new scaffold is four files: the command writes them, it plays, and the tests of all scaffolds accept it unchanged."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from apps.explorations.new_scaffold import DOCUMENT, REGISTRY
from apps.reasoning.programs.registry import SCAFFOLDS
from tests.reasoning.plays import plays_of

ROOT = Path(__file__).resolve().parents[2]
NAME = "two_drafts"
FILES = (
    f"apps/reasoning/scaffolds/{NAME}.py",
    f"apps/reasoning/prompts/{NAME}/solver.md",
    f"tests/reasoning/plays/test_{NAME}.py",
    str(REGISTRY),
)
#: The tests that are asked of every scaffold.
GENERAL = (
    "tests/reasoning/plays",
    "tests/reasoning/scaffolds/test_anytime.py",
    "tests/reasoning/scaffolds/test_candidates_durability.py",
    "tests/reasoning/test_golden_traces.py",
    "tests/reasoning/test_golden_traces_of_verdicts.py",
    "tests/reasoning/running/test_bad_input.py",
    "tests/reasoning/reading/test_answer_lines.py",
    "tests/benchmarks/test_the_scaffolds_are_measured_whole.py",
    "tests/architecture/test_prompts.py",
)


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A repository that has only what the command adds lines to."""
    for path in (REGISTRY, DOCUMENT):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def snapshot(root: Path) -> dict[str, str]:
    return {str(path.relative_to(root)): path.read_text() for path in sorted(root.rglob("*")) if path.is_file()}


@pytest.mark.parametrize(
    "name", ["Two", "two-drafts", "2drafts", "ab", "", "class", "a" * 41, "../two", "two drafts", "zwei_entwürfe"]
)
def test_a_bad_name_is_refused_with_what_a_good_one_is(tables: Path, name: str) -> None:
    before = snapshot(tables)
    with pytest.raises(CommandError, match=r"cannot name a scaffold\. Use 3 to 40 lower-case letters"):
        call_command("new_scaffold", name, root=tables)
    assert snapshot(tables) == before


@pytest.mark.parametrize(
    ("name", "holder"), [("rsa", "Recursive self-aggregation"), ("single_turn", "Single turn"), ("quality", "Quality")]
)
def test_a_name_that_a_program_has_is_refused(tables: Path, name: str, holder: str) -> None:
    with pytest.raises(CommandError, match=f"{name} is already the name of {holder}.*Choose another name"):
        call_command("new_scaffold", name, root=tables)


@pytest.mark.parametrize(
    "there", [*FILES[:3], "apps/reasoning/prompts/two_drafts/other.md", "apps/reasoning/scaffolds/two_drafts/x.py"]
)
def test_nothing_that_exists_is_written_over(tables: Path, there: str) -> None:
    (tables / there).parent.mkdir(parents=True, exist_ok=True)
    (tables / there).write_text("mine")
    before = snapshot(tables)
    with pytest.raises(CommandError, match="exists already, and nothing was written"):
        call_command("new_scaffold", NAME, root=tables)
    assert snapshot(tables) == before


@pytest.mark.parametrize("title", ['Two "drafts"', "Two\ndrafts", "T" * 61, "Two | drafts"])
def test_a_title_that_would_break_a_file_is_refused(tables: Path, title: str) -> None:
    with pytest.raises(CommandError, match="A title is one line"):
        call_command("new_scaffold", NAME, root=tables, title=title)


def test_a_registry_of_another_form_is_left_alone(tables: Path) -> None:
    (tables / REGISTRY).write_text("UNGRADED = {}\n")
    with pytest.raises(CommandError, match="Add the lines by hand"):
        call_command("new_scaffold", NAME, root=tables)
    assert set(snapshot(tables)) == {str(REGISTRY), str(DOCUMENT)}


def test_a_folder_without_a_registry_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"Could not read or write .*registry\.py"):
        call_command("new_scaffold", NAME, root=tmp_path)


def test_a_new_scaffold_plays_and_all_general_tests_accept_it_unchanged(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for folder in ("apps", "tests", "benchmarks", "workers"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__", "*.png", "*.jpg"))
    (copy / "docs").mkdir()
    for path in (str(DOCUMENT), "pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / path, copy / path)
    before = snapshot_names(copy)
    call_command("new_scaffold", NAME, root=copy, title="Two drafts")
    assert snapshot_names(copy) - before == set(FILES[:3])
    assert re.search(rf"(?m)^\| `{NAME}` \|", (copy / DOCUMENT).read_text())
    for check in (["check"], ["format", "--check"]):
        ruff = [str(Path(sys.executable).with_name("ruff")), *check, "--no-cache"]
        subprocess.run([*ruff, *FILES[:1], *FILES[2:]], cwd=copy, check=True)
    tests_run = run_tests(copy)
    assert tests_run.returncode == 0, tests_run.stdout[-4_000:]
    passed = re.search(r"(\d+) passed", tests_run.stdout)
    assert passed is not None
    assert int(passed[1]) > 30, "it is played in every general test"


def test_the_error_for_a_scaffold_without_plays_names_the_missing_file() -> None:
    with pytest.raises(
        AssertionError, match=r"The scaffold missing needs tests/reasoning/plays/test_missing\.py with its PLAYS"
    ):
        plays_of("missing")


def test_every_scaffold_has_a_row_in_the_table_of_the_documents() -> None:
    rows = re.findall(r"(?m)^\| `(\w+)` \|", (ROOT / DOCUMENT).read_text())
    assert [name for name in SCAFFOLDS if name not in rows] == [], f"add a row to {DOCUMENT}"


def test_every_scaffold_with_plays_is_registered() -> None:
    plays = {path.stem.removeprefix("test_") for path in (ROOT / "tests/reasoning/plays").glob("test_*.py")}
    assert plays - set(SCAFFOLDS) == set(), f"add a line to {REGISTRY}"


def snapshot_names(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def run_tests(copy: Path) -> subprocess.CompletedProcess[str]:
    """The general tests in the copy: those of the new scaffold, and all about prompts."""
    options = ["-q", *["-p", "no:cacheprovider", "-p", "no:randomly", "-n", "0"], "-k", f"{NAME} or test_prompts"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))}
    command = [sys.executable, "-m", "pytest", *options, *GENERAL]
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
