"""The undisturbed worked example, played once in memory, and the invariants of every disturbed run."""

import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.database import PostgresServer, server_programs
from tests.flows.stack import Stack

#: Events about the processes that drove the run and about checks of formulas. All others must be the same as in the undisturbed
#: run.
_OF_THE_DRIVE = {
    *("run.created", "run.started", "run.resumed", "run.finished", "call.retried", "call.ended"),
    *("formulas.checked", "formulas.off"),
}

_OF_A_CALL = re.compile(r" workers\.(?:worker|results): (started|answered) (\S+)#\d+$")


def rounds(seeds: range, sampled: int) -> list[Any]:
    """Seeds of random kills. The suite runs the first `sampled`, in which together every process dies at least once.

    `make test-kills` runs all of them.
    """
    return [*seeds[:sampled], *(pytest.param(seed, marks=pytest.mark.thorough) for seed in seeds[sampled:])]


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """A stack in a temporary folder of its own, because the path of Valkey's socket must be short."""
    with tempfile.TemporaryDirectory(prefix="ls-flow-") as folder, Stack(Path(folder)) as stack:
        yield stack


@pytest.fixture(scope="session")
def server() -> Iterator[PostgresServer]:
    """A PostgreSQL server that tests kill. They share it: making the tables of its first database takes longer than a test."""
    if server_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    with PostgresServer() as server:
        yield server


@pytest.fixture
def on_postgres(server: PostgresServer) -> Iterator[Stack]:
    """A stack on that server."""
    with tempfile.TemporaryDirectory(prefix="ls-pg-flow-") as folder, Stack(Path(folder), database=server.url) as stack:
        yield stack


@pytest.fixture(scope="session")
def undisturbed() -> dict[str, tuple[str, Any]]:
    """The kind and body of the worked example's events by key, from the real scaffold and a journal in memory."""
    from tests.flows.undisturbed import play

    return play()


def assert_sound(dump: dict[str, Any], undisturbed: dict[str, tuple[str, Any]]) -> None:
    """Check that the run finished, no event is lost, doubled or different, and each call has one record with its tokens."""
    assert dump["status"] == "finished", dump["reason"]
    seqs = [event["seq"] for event in dump["events"]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert dump["last_seq"] == len(seqs)
    keys = Counter(event["key"] for event in dump["events"])
    assert max(keys.values()) == 1
    found = {event["key"]: (event["kind"], event["body"]) for event in dump["events"] if event["kind"] not in _OF_THE_DRIVE}
    expected = {key: event for key, event in undisturbed.items() if event[0] not in _OF_THE_DRIVE}
    assert found == expected
    assert dump["texts_lost"] == []
    calls = [step for step in dump["steps"] if step["kind"] == "call"]
    assert len({step["key"] for step in calls}) == len(calls) == dump["calls"]
    assert {f"{step['key']}/ended" for step in calls} == {key for key, event in undisturbed.items() if event[0] == "call.ended"}
    assert dump["tokens"] == sum(step["prompt_tokens"] + step["completion_tokens"] for step in dump["steps"]) > 0
    assert dump["outcome"]["accepted"] is True


def assert_nothing_finished_was_generated_again(stack: Stack, workers: tuple[str, ...] = ("inference",)) -> None:
    """Check the workers' logs: no call starts after it was answered. Logs without calls prove nothing and fail."""
    lines_of_calls = [
        (line[:23], *found.groups())
        for name in workers
        for line in stack.log_text(name).splitlines()
        if (found := _OF_A_CALL.search(line))
    ]
    answered: set[str] = set()
    for _, verb, call in sorted(lines_of_calls, key=lambda line: line[0]):
        if verb == "started" and call in answered:
            lines = [line for name in workers for line in stack.log_text(name).splitlines() if call in line]
            raise AssertionError("\n".join([f"{call} was generated again", *lines]))
        if verb == "answered":
            answered.add(call)
    started = {call for _, verb, call in lines_of_calls if verb == "started"}
    assert started, "no log line reports the start of a call: has its wording changed?"
    assert answered, "no log line reports the answer to a call: has its wording changed?"
    assert answered <= started
