"""The undisturbed worked example, played once in memory, and the invariants that every disturbed run must meet."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.stack import Stack

#: Events that say who drove the run, how often, and what was checked beside it; all others must be the same as in the
#: undisturbed run.
_OF_THE_DRIVE = {
    *("run.created", "run.started", "run.resumed", "run.finished", "call.retried", "call.ended"),
    *("formulas.checked", "formulas.off"),
}

_OF_A_CALL = re.compile(r" workers\.(?:worker|results): (began|answered) (\S+)#\d+$")


def rounds(seeds: range, sampled: int) -> list[Any]:
    """Seeds of random kills, of which the suite takes the first few, in which every process dies at least four times.

    All of them are rounds of `make test-kills`.
    """
    return [*seeds[:sampled], *(pytest.param(seed, marks=pytest.mark.thorough) for seed in seeds[sampled:])]


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[Stack]:
    """All processes, started; Valkey's socket path must stay short, so they live under a folder of their own."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="ls-flow-") as folder, Stack(Path(folder)) as stack:
        yield stack


@pytest.fixture(scope="session")
def undisturbed() -> dict[str, tuple[str, Any]]:
    """Event keys of the worked example with kind and body, from the real scaffold and a journal in memory."""
    from tests.flows.undisturbed import play

    return play()


def assert_sound(dump: dict[str, Any], undisturbed: dict[str, tuple[str, Any]]) -> None:
    """The run finished; no event lost, doubled or different; one record per call; the sum of its tokens is theirs."""
    assert dump["status"] == "finished", dump["reason"]
    seqs = [event["seq"] for event in dump["events"]]
    assert seqs == list(range(1, len(seqs) + 1))
    assert dump["last_seq"] == len(seqs)
    keys = Counter(event["key"] for event in dump["events"])
    assert max(keys.values()) == 1
    told = {event["key"]: (event["kind"], event["body"]) for event in dump["events"] if event["kind"] not in _OF_THE_DRIVE}
    expected = {key: event for key, event in undisturbed.items() if event[0] not in _OF_THE_DRIVE}
    assert told == expected
    assert dump["texts_lost"] == []
    calls = [step for step in dump["steps"] if step["kind"] == "call"]
    assert len({step["key"] for step in calls}) == len(calls) == dump["calls"]
    assert {f"{step['key']}/ended" for step in calls} == {key for key, event in undisturbed.items() if event[0] == "call.ended"}
    assert dump["tokens"] == sum(step["prompt_tokens"] + step["completion_tokens"] for step in dump["steps"]) > 0
    assert dump["outcome"]["accepted"] is True


def assert_nothing_finished_was_generated_again(stack: Stack, workers: tuple[str, ...] = ("inference",)) -> None:
    """In the workers' logs no call begins after it was answered. Logs that tell of no call prove nothing and fail."""
    told = [
        (line[:23], *found.groups())
        for name in workers
        for line in stack.log_text(name).splitlines()
        if (found := _OF_A_CALL.search(line))
    ]
    answered: set[str] = set()
    for _, verb, call in sorted(told, key=lambda line: line[0]):
        if verb == "began" and call in answered:
            lines = [line for name in workers for line in stack.log_text(name).splitlines() if call in line]
            raise AssertionError("\n".join([f"{call} was generated again", *lines]))
        if verb == "answered":
            answered.add(call)
    began = {call for _, verb, call in told if verb == "began"}
    assert began, "no log line says that a call began: has its wording changed?"
    assert answered, "no log line says that a call was answered: has its wording changed?"
    assert answered <= began
