"""With verifiers' training client a step has the tokens and log-probabilities as drawn, and only chosen roles are trained."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.reasoning.candidates import PASS
from tests.verifiers.conftest import RIGHT, SUM, Run

pytestmark = pytest.mark.verifiers
ANSWERS = {"You examine a solution of an olympiad problem": PASS, "": RIGHT}
LOGPROB = -0.25


@pytest.fixture(scope="module")
def trained(run: Run) -> dict[str, Any]:
    given = {"scaffold": "self_check", "preset": "quick", "problems": [SUM], "roles": ["solver"], "answers": ANSWERS}
    done = run("python", Path(__file__).with_name("training.py"), json.dumps(given))
    assert done.returncode == 0, done.stderr[-4_000:]
    found: dict[str, Any] = json.loads(done.stdout)
    assert (found["ok"], found["reward"]) == (True, 1.0), found["errors"]
    return found


def test_a_trained_step_has_its_tokens_with_their_log_probabilities(trained: dict[str, Any]) -> None:
    (solver,) = [step for step in trained["steps"] if step["role"] == "solver"]
    assert (solver["trained"], solver["text"], solver["logprobs"]) == (True, RIGHT, [LOGPROB])
    assert solver["drawn"] == len(RIGHT.encode()) + 1 < solver["tokens"]


def test_steps_of_other_roles_keep_their_tokens_and_none_counts_as_drawn(trained: dict[str, Any]) -> None:
    others = [step for step in trained["steps"] if step["role"] != "solver"]
    assert {step["role"] for step in others} == {"improver", "verifier"}
    assert all((step["trained"], step["drawn"], step["logprobs"]) == (False, 0, []) for step in others)
    assert all(step["tokens"] for step in others)


def test_of_the_samples_only_that_of_the_trained_role_has_a_loss(trained: dict[str, Any]) -> None:
    drawn = len(RIGHT.encode()) + 1
    assert [one[1:] for one in trained["branches"] if one[1]] == [[drawn, LOGPROB * drawn]]
    assert len(trained["branches"]) == len(trained["steps"])
