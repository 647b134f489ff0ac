"""kill -9 of any process at any moment: the run finishes, no finished call is made again, no event is lost or doubled."""

import random
import shutil
import signal
import time
from typing import Any

import pytest

from tests.flows.conftest import assert_nothing_finished_was_generated_again, assert_sound, rounds
from tests.flows.stack import Stack

pytestmark = [pytest.mark.kill]
ALL = ("valkey", "orchestrator", "inference", "web")
Undisturbed = dict[str, tuple[str, Any]]


def some_calls(dump: dict[str, Any]) -> bool:
    """The run is well under way."""
    return bool(dump["calls"] >= 5)


@pytest.mark.parametrize("seed", rounds(range(20), sampled=3))
def test_random_kills_at_random_moments(stack: Stack, undisturbed: Undisturbed, seed: int) -> None:
    rng = random.Random(seed)
    stack.tokens_per_s = 900
    stack.env["WORKED_EXAMPLE_TOKENS_PER_S"] = "900"
    stack.port = 20_000 + seed
    stack.start(*ALL)
    run = stack.agent("start")
    stack.wait_for(run, lambda dump: dump["status"] == "running")
    for _ in range(3):
        time.sleep(rng.uniform(0.0, 1.2))
        stack.kill(rng.choice(ALL))
        time.sleep(rng.uniform(0.0, 0.5))
        stack.keep_up(ALL)
    dump = stack.wait_until_ended(run, keep=ALL, within_s=90)
    assert_sound(dump, undisturbed)
    assert_nothing_finished_was_generated_again(stack)


@pytest.mark.parametrize(
    ("process", "point"),
    [
        ("inference", "before_generation:3"),
        ("inference", "mid_generation:4"),
        ("inference", "before_result:5"),
        ("inference", "after_result:5"),
        ("orchestrator", "before_dispatch:2"),
        ("orchestrator", "after_dispatch:2"),
        ("orchestrator", "after_commit_before_ack:6"),
    ],
)
def test_a_process_that_dies_at_a_named_point(stack: Stack, undisturbed: Undisturbed, process: str, point: str) -> None:
    stack.start(*[name for name in ALL if name not in (process, "web")])
    stack.start(process, env={"CRASH_AT": point, "CRASH_ONCE_FILE": str(stack.folder / "crashed")})
    run = stack.agent("start")
    stack.wait_dead(process)
    assert (stack.folder / "crashed").read_text() == point.partition(":")[0]
    stack.start(process)
    dump = stack.wait_until_ended(run, keep=("valkey", "orchestrator", "inference"))
    assert_sound(dump, undisturbed)
    assert_nothing_finished_was_generated_again(stack)


def test_a_suspended_owner_writes_nothing_after_it_wakes(stack: Stack, undisturbed: Undisturbed) -> None:
    stack.env["WORKED_EXAMPLE_TOKENS_PER_S"] = "600"
    stack.start("valkey", "orchestrator", "inference")
    run = stack.agent("start")
    stack.wait_for(run, some_calls)
    sleeper = stack.running["orchestrator"]
    sleeper.send_signal(signal.SIGSTOP)
    while not stack.agent("writable", run):
        sleeper.send_signal(signal.SIGCONT)
        time.sleep(0.01)
        sleeper.send_signal(signal.SIGSTOP)
    stack.start("orchestrator2")
    stack.wait_for(run, lambda dump: dump["fence"] >= 2)
    sleeper.send_signal(signal.SIGCONT)
    dump = stack.wait_until_ended(run)
    assert_sound(dump, undisturbed)


def test_the_stream_data_can_be_wiped(stack: Stack, undisturbed: Undisturbed) -> None:
    stack.env["WORKED_EXAMPLE_TOKENS_PER_S"] = "900"
    stack.start("valkey", "orchestrator", "inference")
    run = stack.agent("start")
    stack.wait_for(run, some_calls)
    stack.kill("valkey")
    shutil.rmtree(stack.folder / "valkey" / "appendonlydir")
    stack.start("valkey")
    assert_sound(stack.wait_until_ended(run), undisturbed)


def test_a_run_stopped_by_sigterm_continues_at_the_next_start(stack: Stack, undisturbed: Undisturbed) -> None:
    stack.env["WORKED_EXAMPLE_TOKENS_PER_S"] = "600"
    names = ("valkey", "orchestrator", "inference")
    stack.start(*names)
    run = stack.agent("start")
    stack.wait_for(run, some_calls)
    stack.running["orchestrator"].terminate()
    assert stack.running["orchestrator"].wait(timeout=15) == 0
    given_back = stack.agent("dump", run)
    assert (given_back["status"], given_back["owner"]) == ("running", "")
    for name in ("inference", "valkey"):
        stack.running[name].terminate()
        assert stack.running[name].wait(timeout=20) == 0
    stack.start(*names)
    assert_sound(stack.wait_until_ended(run, keep=names), undisturbed)
    assert_nothing_finished_was_generated_again(stack)


def test_a_cancelled_run_stops_the_engine_and_stays_cancelled(stack: Stack) -> None:
    stack.env["WORKED_EXAMPLE_TOKENS_PER_S"] = "20"
    stack.start("valkey", "orchestrator", "inference")
    run = stack.agent("start")
    stack.wait_for(run, lambda dump: dump["status"] == "running" and stack.agent("active", run) > 0)
    stack.agent("command", run, "cancel")
    dump = stack.wait_until_ended(run)
    assert dump["status"] == "cancelled"
    assert [event["kind"] for event in dump["events"]][-1] == "run.cancelled"
    until = time.monotonic() + 5
    while stack.agent("active", run) and time.monotonic() < until:
        time.sleep(0.2)
    assert stack.agent("active", run) == 0
