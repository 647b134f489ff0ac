"""A small exploration by a real model, and the engine's processes below the workers that host it."""

import contextlib
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.flows.conftest import assert_nothing_finished_was_generated_again
from tests.flows.stack import ROOT, Stack


def explore(stack: Stack, alias: str, rollouts: int) -> str:
    """Start the exploration from the command line; returns the run's public id. The stack has the sample library.

    A model as small as the tests' writes no lemma that can be read: each rollout makes two calls, and the run ends.
    """
    what = f"explore nesbitt-inequality --alias {alias} --preset quick --max-new-tokens 64 --seed 4 --no-follow --yes"
    command = [sys.executable, "manage.py", *what.split(), "--set", "rounds=1", "--set", f"rollouts={rollouts}"]
    done = subprocess.run(command, env=stack.env, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


def processes_below(pid: int) -> dict[int, str]:
    """Title and command line by process id of what a process has started, and what that has started."""
    parents, titles = {}, {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            command = (entry / "cmdline").read_text().replace("\0", " ")
            titles[int(entry.name)] = f"{(entry / 'comm').read_text().strip()} {command}"
    below = {pid}
    while grown := {child for child, parent in parents.items() if parent in below} - below:
        below |= grown
    return {child: titles.get(child, "") for child in below - {pid}}


def assert_every_call_once(stack: Stack, dump: dict[str, Any], workers: tuple[str, ...] = ("inference",)) -> None:
    """The run finished: no event lost or doubled, one record per call, no text lost, the sum of tokens is theirs.

    What a real model writes is not the same twice, so there is no undisturbed run to compare with.
    """
    assert dump["status"] == "finished", dump["reason"]
    keys = [event["key"] for event in dump["events"]]
    assert len(set(keys)) == len(keys) == dump["last_seq"]
    assert [event["seq"] for event in dump["events"]] == list(range(1, len(keys) + 1))
    calls = [step for step in dump["steps"] if step["kind"] == "call"]
    assert len({step["key"] for step in calls}) == len(calls) == dump["calls"]
    assert {f"{step['key']}/ended" for step in calls} == {
        event["key"] for event in dump["events"] if event["kind"] == "call.ended"
    }
    assert dump["texts_lost"] == []
    assert dump["tokens"] == sum(step["prompt_tokens"] + step["completion_tokens"] for step in dump["steps"]) > 0
    assert any(step["attempt"] > 1 for step in calls)
    assert_nothing_finished_was_generated_again(stack, workers)
