"""A test that ends its process or hangs is named and fails alone. The suite ends with a summary, even on Ctrl-C."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.distribution import pytest_xdist_auto_num_workers
from tests.progress import Progress

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = ("-p", "xdist", "-p", "pytest_timeout", "-p", "tests.distribution", "-p", "tests.progress", "-p", "no:cacheprovider")
#: pytest as in a terminal: background processes of a script and their children ignore Ctrl-C.
PYTEST = (
    "import signal, sys, pytest;signal.signal(signal.SIGINT, signal.default_int_handler);sys.exit(pytest.main(sys.argv[1:]))"
)
CONFIGURATION = """
[pytest]
addopts = --strict-config
timeout = 20
faulthandler_timeout = 3
faulthandler_exit_on_timeout = true
"""


def start(folder: Path, *options: str, **files: str) -> "subprocess.Popen[str]":
    """Start pytest for `files` (name to text) in two processes, like `make test`, without Django."""
    (folder / "pytest.ini").write_text(CONFIGURATION)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    command = [sys.executable, "-c", PYTEST, *PLUGINS, "-n", "2", "--dist", "loadgroup", *options, str(folder)]
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTEST_ADDOPTS": "",
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PROGRESS_EVERY_S": "0.3",
    }
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(command, cwd=folder, env=env, text=True, start_new_session=True, **pipes)  # type: ignore[call-overload, no-any-return]


def run(folder: Path, **files: str) -> str:
    process = start(folder, **files)
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == pytest.ExitCode.TESTS_FAILED, printed
    return printed


GOOD = "import time, pytest\n@pytest.mark.parametrize('n', range(40))\ndef test_good(n):\n    time.sleep(0.02)\n"
DIES = "import os\ndef test_dies():\n    os._exit(9)\n"
IN_A_GROUP = """
import os, pytest
pytestmark = pytest.mark.xdist_group("group")
def test_before(): pass
def test_dies_in_a_group(): os.kill(os.getpid(), 9)
def test_after(): pass
"""


HANGS = "import time, pytest\n@pytest.mark.timeout(1)\ndef test_hangs():\n    time.sleep(100)\n"
DEAF = """
import signal, time
def test_deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(100)
"""


def test_tests_that_end_their_process_or_hang_are_named_and_fail_alone(tmp_path: Path) -> None:
    printed = run(tmp_path, test_good=GOOD, test_dies=DIES, test_group=IN_A_GROUP, test_hangs=HANGS, test_deaf=DEAF)
    assert "4 failed, 42 passed" in printed, printed
    assert "crashed while running 'test_dies.py::test_dies'" in printed
    assert "crashed while running 'test_group.py::test_dies_in_a_group'" in printed
    assert "Timeout (>1.0s)" in printed, "a hanging test that receives signals fails in its own process"
    assert "crashed while running 'test_deaf.py::test_deaf'" in printed
    assert "in test_deaf" in printed, "the stack of the hanging test is printed"
    assert re.search(r"\d+ of 46 tests, \d of 3 slow ones; running: .*test_hangs", printed), (
        "running tests are printed meanwhile"
    )


def test_the_very_last_test_may_end_its_process(tmp_path: Path) -> None:
    printed = run(tmp_path, test_last="import time, os\ndef test_first(): time.sleep(1)\ndef test_last(): os._exit(9)\n")
    assert "1 failed, 1 passed" in printed, printed


def test_control_c_ends_the_suite_with_a_summary(tmp_path: Path) -> None:
    process = start(
        tmp_path, test_long="import time\ndef test_one(): time.sleep(2.5)\ndef test_two(): time.sleep(2.5)\n" + GOOD
    )
    time.sleep(2.5)
    os.killpg(process.pid, signal.SIGINT)  # Like a terminal: to the whole foreground group.
    printed = process.communicate(timeout=30)[0]
    assert process.returncode == pytest.ExitCode.INTERRUPTED, printed
    assert re.search(r"\d+ passed|no tests ran", printed), printed


def test_progress_counts_slow_tests_and_names_running_ones(pytestconfig: pytest.Config) -> None:
    progress = Progress(pytestconfig.pluginmanager.get_plugin("terminalreporter") or pytest.TerminalReporter(pytestconfig))
    assert progress.line() == "0:00: the test processes collect their tests"
    progress.pytest_xdist_node_collection_finished(["tests/a.py::test_quick", "tests/flows/b.py::test_slow@a group"])
    assert progress.line() == "0:00: 0 of 2 tests, 0 of 1 slow ones; running: none yet"
    for test in ("tests/a.py::test_quick", "tests/flows/b.py::test_slow@a group"):
        progress.pytest_runtest_logstart(test)
    progress.pytest_runtest_logfinish("tests/a.py::test_quick")
    assert progress.line() == "0:00: 1 of 2 tests, 0 of 1 slow ones; running: tests/flows/b.py::test_slow (0 s)"
    progress.pytest_handlecrashitem("tests/flows/b.py::test_slow@a group")
    assert progress.line().endswith("running: none yet")


QUICK = "import pytest\n@pytest.mark.parametrize('n', range(20))\ndef test_quick(n, worker_id, record): record(worker_id)\n"
SLOW = "import pytest, time\npytestmark = pytest.mark.xdist_group('browser 1')\n" + QUICK.replace("test_quick", "test_slow")
RECORD = """
import pathlib, pytest, time
@pytest.fixture
def record(request):
    def note(worker):
        time.sleep(0.02)
        with pathlib.Path("ran.txt").open("a") as file:
            file.write(f"{request.path.stem} {worker}\\n")
    return note
"""


def test_a_file_runs_in_one_process_and_slow_groups_run_next_to_quick_files(tmp_path: Path) -> None:
    files = {"conftest": RECORD, "test_slow": SLOW, "test_quick": QUICK, "test_quick_too": QUICK}
    process = start(tmp_path, **files)
    printed = process.communicate(timeout=120)[0]
    assert process.returncode == pytest.ExitCode.OK, printed
    ran = [line.split() for line in (tmp_path / "ran.txt").read_text().splitlines()]
    places = {name: {worker for file, worker in ran if file == name} for name in files if name != "conftest"}
    assert all(len(workers) == 1 for workers in places.values()), places
    assert not places["test_slow"] & places["test_quick"]


def test_processes_fit_the_cores_and_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def processes(cores: int, gib: int) -> int | None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(cores), raising=False)
        monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": gib, "SC_PAGE_SIZE": 2**30}.get)
        return pytest_xdist_auto_num_workers()

    assert [processes(1, 24), processes(2, 24), processes(4, 64), processes(64, 512)] == [1, 3, 6, 12]
    assert [processes(8, 8), processes(8, 1)] == [2, 1]
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "5")
    assert processes(2, 24) is None, "xdist reads the variable"
