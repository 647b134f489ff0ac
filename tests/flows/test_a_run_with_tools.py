"""A run whose model runs code: the sandbox dies, the run is cancelled, the sandbox is off. Real code, a scripted model."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.flows.stack import Stack
from tests.reasoning.agents import CHECKPOINTS, SUMMED, python, report, solution
from tests.sandbox.conftest import needed
from workers.sandbox.probe import probe

pytestmark = [pytest.mark.kill]
ALL = ("valkey", "orchestrator", "inference", "sandbox")
CODE = "solve/c1.1/turn/1/python"
ANSWER = solution("It is plain.", "So $1+2=3$.")


def script(code: str) -> dict[str, str]:
    texts = {"solve/c1.1/turn/1": python(code), "solve/c1.1/turn/2": ANSWER, "solve/c2.1/turn/1": ANSWER}
    for name in ("c1.1", "c2.1"):
        texts |= {f"condense/{name}": CHECKPOINTS, f"sum-up/{name}": SUMMED}
        texts |= {f"judge/{name}/{number}/turn/1": report(0) for number in range(1, 5)}
    return texts


@pytest.fixture
def tools(stack: Stack) -> Stack:
    """A stack whose one model plays `script.json` of its folder."""
    models = f'[worked-example]\nbackend = "scripted"\noptions = {{script = "{stack.folder}/script.json"}}\n'
    (stack.folder / "models.toml").write_text(models)
    stack.env |= {"MODELS_FILE": str(stack.folder / "models.toml"), "WORKED_EXAMPLE_TOKENS_PER_S": "0", "SANDBOX": "auto"}
    return stack


@pytest.fixture
async def fence() -> None:
    needed(await probe())


def _play(stack: Stack, code: str) -> str:
    Path(stack.folder / "script.json").write_text(json.dumps(script(code)))
    return str(stack.agent("start_with_tools"))


def _event(dump: dict[str, Any], key: str) -> dict[str, Any]:
    found: dict[str, Any] = next(event["body"] for event in dump["events"] if event["key"] == key)
    return found


def _wait_until_code_runs(stack: Stack, run: str) -> None:
    """The sandbox holds the call, and no model has one just then."""
    stack.wait_for(run, lambda dump: any(event["key"] == f"{CODE}/began" for event in dump["events"]), within_s=90)
    until = time.monotonic() + 30
    while not stack.agent("active", run):
        assert time.monotonic() < until, stack.logs()
        time.sleep(0.1)


@pytest.mark.usefixtures("fence")
def test_a_dying_sandbox_loses_only_the_running_code(tools: Stack) -> None:
    tools.start(*ALL)
    run = _play(tools, "import time\ntime.sleep(4)\nprint(2 + 2)")
    _wait_until_code_runs(tools, run)
    tools.kill("sandbox")
    tools.start("sandbox")
    dump = tools.wait_until_ended(run, keep=ALL, within_s=90)
    assert dump["status"] == "finished"
    assert _event(dump, f"{CODE.removesuffix('/python')}/taken")["response"] == "4"
    steps = [step for step in dump["steps"] if step["key"] == CODE]
    assert [(step["kind"], step["failure"]) for step in steps] == [("tool", "")]
    assert dump["calls"] == sum(step["kind"] == "call" for step in dump["steps"])


@pytest.mark.usefixtures("fence")
def test_a_restarted_orchestrator_finds_the_result_of_the_code(tools: Stack) -> None:
    tools.start(*ALL)
    run = _play(tools, "import time\ntime.sleep(2)\nprint(2 + 2)")
    _wait_until_code_runs(tools, run)
    tools.kill("orchestrator")
    while tools.agent("active", run):
        time.sleep(0.1)
    dump = tools.wait_until_ended(run, keep=ALL, within_s=90)
    assert _event(dump, f"{CODE.removesuffix('/python')}/taken")["response"] == "4"
    log = tools.log_text("sandbox")
    assert log.count(f"started {run}/{CODE}#") == 1, "the code ran once"


@pytest.mark.usefixtures("fence")
def test_cancelling_the_run_ends_its_code(tools: Stack) -> None:
    tools.start(*ALL)
    run = _play(tools, "while True: pass")
    _wait_until_code_runs(tools, run)
    tools.agent("command", run, "cancel")
    assert tools.wait_until_ended(run)["status"] == "cancelled"
    until = time.monotonic() + 10
    while tools.agent("active", run) and time.monotonic() < until:
        time.sleep(0.2)
    assert tools.agent("active", run) == 0


def test_a_sandbox_that_is_off_is_reported_and_the_run_continues(tools: Stack) -> None:
    tools.env["SANDBOX"] = "off"
    tools.start("valkey", "orchestrator", "inference")
    dump = tools.wait_until_ended(_play(tools, "print(2 + 2)"), within_s=90)
    assert dump["status"] == "finished"
    assert _event(dump, f"{CODE}/failed")["is_off"] is True
    assert "not available" in _event(dump, f"{CODE.removesuffix('/python')}/taken")["response"]
