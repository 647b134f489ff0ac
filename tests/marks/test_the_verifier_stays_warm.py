"""The computational verifier answers from a process that is used again; what fails is ended and replaced."""

import json
import os
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apps.marks.graders import warm_verifier as verifier

ROOT = Path(__file__).resolve().parents[2]
JOB = {"texts": [{"id": "1", "text": "Then $(a+b)^2 = a^2 + b^2$ for all $a$ and $b$."}], "context": ""}


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> Iterator["deque[Any]"]:
    found: deque[Any] = deque()
    monkeypatch.setattr(verifier, "_idle", found)
    yield found
    while found:
        found.pop().end()


def outcomes() -> list[str]:
    return [one["outcome"] for one in json.loads(verifier.answer_of(json.dumps(JOB)))["findings"]]


def test_one_process_answers_one_job_after_another(idle: "deque[Any]") -> None:
    assert outcomes() == ["refuted"]
    first = idle[0]
    began = time.process_time()
    assert [outcomes() for _ in range(3)] == [["refuted"]] * 3
    assert list(idle) == [first]
    assert time.process_time() - began < 1, "the work is done elsewhere"


def test_a_process_that_has_ended_is_replaced(idle: "deque[Any]") -> None:
    assert outcomes() == ["refuted"]
    idle[0].end()
    assert outcomes() == ["refuted"]
    assert len(idle) == 1


def test_a_process_that_ends_just_before_its_job_is_replaced_too(idle: "deque[Any]", monkeypatch: pytest.MonkeyPatch) -> None:
    verifier.make_ready()
    verifier.make_ready()
    (kept,) = idle
    kept.end()
    monkeypatch.setattr(type(kept), "is_running", property(lambda _: True))
    monkeypatch.setattr(os, "killpg", lambda *_: None)
    assert outcomes() == ["refuted"]
    assert kept not in idle
    monkeypatch.undo()


@pytest.mark.parametrize("job", ['{"texts": [{}]}', "no JSON", '{"texts": 1}'])
def test_a_malformed_job_is_refused_and_its_process_is_ended(job: str, idle: "deque[Any]") -> None:
    with pytest.raises(verifier.VerifierFailed, match="The formula check failed"):
        verifier.answer_of(job)
    assert not idle
    assert outcomes() == ["refuted"]


def test_a_job_beyond_its_time_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "WALL_S", 0.01)
    with pytest.raises(verifier.VerifierFailed, match="exceeded its time limit"):
        verifier.answer_of(json.dumps(JOB))


@pytest.mark.parametrize("work", ["len(bytearray(job['n']))", "sum(1 for _ in iter(int, 1))"])
def test_only_the_fork_of_a_job_beyond_its_limits_dies(work: str) -> None:
    code = f"from apps.mathcheck.serving import serve; serve(lambda job: {{'n': job['n'] and {work}}}, 2, 1_000_000_000)"
    jobs = "".join(json.dumps({"n": n}) + "\n" for n in (0, 2_000_000_000, 0))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=jobs, capture_output=True, encoding="utf-8", cwd=ROOT, check=True)
    assert done.stdout.split("\n")[:3] == ['{"n": 0}', "", '{"n": 0}']
