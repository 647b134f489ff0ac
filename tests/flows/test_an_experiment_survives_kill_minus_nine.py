"""kill -9 of any process while an experiment runs: every cell is graded, by one run with one record of its call."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.flows.stack import ROOT, Stack

pytestmark = [pytest.mark.kill]
ALL = ("valkey", "orchestrator", "grader")
SCRIPTS = 8


@pytest.fixture
def stack() -> Iterator[Stack]:
    env = {"MODELS_FILE": str(ROOT / "benchmarks" / "grading.toml"), "GRADING_AT_ONCE": "3", "GRADER_LATENCY_S": "0.6"}
    with TemporaryDirectory(prefix="ls-flow-") as folder, Stack(Path(folder), extra_env=env) as stack:
        yield stack


def world(stack: Stack, *args: str) -> Any:
    command = [sys.executable, "-m", "tests.flows.experiment_world", *args]
    done = subprocess.run(command, env=stack.env, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


def wait(stack: Stack, experiment: str, ended: int, within_s: float = 120) -> dict[str, Any]:
    """Keep the processes running until `ended` cells have ended."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        stack.keep_up(ALL)
        dump: dict[str, Any] = world(stack, "dump", experiment)
        if sum(state in ("scored", "unscored", "failed", "cancelled") for state, _, _ in dump["cells"]) >= ended:
            return dump
    raise AssertionError(f"{dump}\n{stack.logs()}")


def test_every_process_dies_once_and_nothing_is_graded_twice(stack: Stack) -> None:
    stack.start(*ALL)
    experiment = world(stack, "make")
    for number, victim in enumerate(("orchestrator", "grader", "valkey"), 1):
        wait(stack, experiment, number)
        stack.kill(victim)
    dump = wait(stack, experiment, SCRIPTS)
    assert dump["cells"] == [["scored", "3.00", 1]] * SCRIPTS, dump["reason"]
    assert (dump["runs"], dump["records"]) == (SCRIPTS, SCRIPTS)
