"""kill -9 of any process while an experiment runs: every cell ends once, by one run with one record of each of its calls."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.flows.conftest import assert_nothing_finished_was_generated_again, rounds
from tests.flows.stack import ROOT, Stack

pytestmark = [pytest.mark.kill]
ALL = ("valkey", "orchestrator", "grader")
SCRIPTS = PROBLEMS = 8
#: Calls of a cell with these answers.
CALLS = {"vote": 2, "self-check": 4}


@pytest.fixture
def stack(request: pytest.FixtureRequest) -> Iterator[Stack]:
    models = str(ROOT / getattr(request, "param", "benchmarks/grading.toml"))
    env = {"MODELS_FILE": models, "GRADING_AT_ONCE": "6", "GRADER_LATENCY_S": "0.6"}
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


@pytest.mark.parametrize("stack", ["tests/flows/solving.toml"], indirect=True)
@pytest.mark.parametrize("seed", rounds(range(50), sampled=1))
def test_random_kills_lose_no_cell_of_an_experiment_on_solving_and_ask_nothing_twice(stack: Stack, seed: int) -> None:
    rng = random.Random(seed)
    stack.start(*ALL)
    experiment = world(stack, "make_solving")
    for _ in range(3):
        time.sleep(rng.uniform(0.3, 2.0))
        stack.kill(rng.choice(ALL))
        time.sleep(rng.uniform(0.0, 0.5))
        stack.keep_up(ALL)
    dump = wait_until_done(stack, experiment)
    assert [cell[2] for cell in dump["cells"]] == ["finished"] * 2 * PROBLEMS, dump["cells"]
    assert [score[1:3] for score in dump["scores"]] == [["answer", "scored"], ["graded", "scored"]] * 2 * PROBLEMS
    assert {(cell[1], cell[3]) for cell in dump["cells"]} == set(CALLS.items())
    assert dump["runs"] == 4 * PROBLEMS
    assert dump["calls"] == sum(cell[3] for cell in dump["cells"]) + 2 * PROBLEMS
    assert_nothing_finished_was_generated_again(stack, ("grader",))


def wait_until_done(stack: Stack, experiment: str, within_s: float = 120) -> dict[str, Any]:
    """Keep the processes running until the experiment is over."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        stack.keep_up(ALL)
        dump: dict[str, Any] = world(stack, "dump_solving", experiment)
        if dump["state"] != "running":
            return dump
    raise AssertionError(f"{dump}\n{stack.logs()}")
