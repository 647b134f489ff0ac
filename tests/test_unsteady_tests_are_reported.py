"""CI repeats a failed test once and reports it. More than a few repeats fail the run, and kill tests are never repeated."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONFTEST = """
import pytest
from tests.distribution import pytest_runtest_logreport, pytest_xdist_make_scheduler
from tests.unsteady import pytest_sessionfinish, pytest_terminal_summary, repeat_once

def pytest_configure(config):
    config.addinivalue_line("markers", "kill: kills")

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    repeat_once(config, items)
"""
TESTS = """
import pathlib, pytest

def first_time(name):
    place = pathlib.Path(__file__).parent / f"seen-{name}"
    is_first = not place.exists()
    place.touch()
    return is_first

if UNSTEADY:
    @pytest.mark.xdist_group("a group")
    @pytest.mark.parametrize("number", range(UNSTEADY))
    def test_unsteady(number):
        assert not first_time(number), "an unlucky moment"

if BROKEN:
    def test_broken():
        assert False

if KILLS:
    @pytest.mark.kill
    def test_that_kills():
        assert not first_time("kill")
"""


def run(
    folder: Path, *, unsteady: int = 0, broken: bool = False, kills: bool = False, ci: str = "true", processes: int = 0
) -> str:
    """The output of pytest for such tests, with its exit status at the end."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    head = f"UNSTEADY, BROKEN, KILLS = {unsteady}, {broken}, {kills}\n"
    (folder / "test_given.py").write_text(head + TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:django", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(
        [*command, "-n", str(processes), "--dist", "loadgroup", "-c", "pytest.ini", "--rootdir", "."],
        cwd=folder,
        env={**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    return f"{done.stdout}\nexit {done.returncode}"


@pytest.mark.parametrize("processes", [0, 2])
def test_a_few_tests_that_pass_on_repetition_are_reported_with_their_errors(tmp_path: Path, processes: int) -> None:
    output = run(tmp_path, unsteady=3, processes=processes)
    assert "Failed once and passed on repetition: 3; more" in output
    names = [line for line in output.splitlines() if line.startswith("test_given.py::")]
    assert sorted(names) == [f"test_given.py::test_unsteady[{number}]" for number in range(3)], "as pytest accepts them"
    assert "an unlucky moment" in output
    assert "exit 0" in output


@pytest.mark.parametrize("processes", [0, 2])
def test_more_than_a_few_repetitions_fail_the_run(tmp_path: Path, processes: int) -> None:
    output = run(tmp_path, unsteady=4, processes=processes)
    assert "4 passed, 4 rerun" in output
    assert "exit 1" in output


def test_a_test_that_fails_twice_has_failed(tmp_path: Path) -> None:
    output = run(tmp_path, unsteady=1, broken=True, processes=2)
    assert "1 failed, 1 passed, 2 rerun" in output
    assert "Failed once and passed on repetition: 1; more" in output, "the broken test is not among them"
    assert "exit 1" in output


def test_a_kill_test_is_not_repeated(tmp_path: Path) -> None:
    output = run(tmp_path, kills=True)
    assert "rerun" not in output
    assert "exit 1" in output


def test_outside_ci_no_test_is_repeated(tmp_path: Path) -> None:
    output = run(tmp_path, unsteady=1, ci="")
    assert "rerun" not in output
    assert "exit 1" in output
