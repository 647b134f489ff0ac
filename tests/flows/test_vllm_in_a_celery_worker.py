"""A small exploration by a real Celery worker that hosts vLLM, and what happens when its processes are killed."""

import contextlib
import os
import random
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flows.conftest import rounds
from tests.flows.exploring import assert_every_call_once, explore, processes_below
from tests.flows.stack import Stack
from tests.inference.vllm.vllm_here import LOADED_WITHIN_S, vllm_toml
from workers.exits import EXIT_ENGINE_LOST

pytestmark = [pytest.mark.vllm, pytest.mark.kill, pytest.mark.xdist_group("vllm in a worker")]
ALL = ("valkey", "orchestrator", "inference")


class VllmStack(Stack):
    """The inference worker is started as on a machine with a GPU."""

    def _command(self, name: str) -> list[str]:
        if name == "inference":
            return [sys.executable, "-m", "workers.serve", "tiny"]
        return super()._command(name)


@pytest.fixture
def stack() -> Iterator[VllmStack]:
    with tempfile.TemporaryDirectory(prefix="ls-vllm-") as folder:
        models = Path(folder) / "models.toml"
        models.write_text(vllm_toml("tiny"))
        patient = {"LEASE_S": "15", "LEASE_RENEW_S": "3", "REDISPATCH_GRACE_S": "5", "DRAIN_S": "30"}
        stack = VllmStack(Path(folder), extra_env={"MODELS_FILE": str(models), **patient})
        with stack:
            stack.agent("samples")
            yield stack


def _until(condition: Callable[[], Any], stack: Stack, what: str, within_s: float) -> Any:
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} did not happen within {within_s:g} s\n{stack.logs()}")


def _engine_processes(stack: Stack) -> dict[int, str]:
    """Titles by process id of the engine core and its workers, which stand below the inference worker."""
    below = processes_below(stack.running["inference"].pid)
    return {pid: title for pid, title in below.items() if title.startswith("VLLM::")}


def _generating(stack: Stack, run: str, starts: int) -> dict[int, str]:
    """The engine's processes as soon as the engine of the worker's start number `starts` generates calls of the run."""

    def is_working() -> bool:
        status = stack.agent("dump", run)["status"]
        assert status in {"queued", "running"}, f"the run is {status}\n{stack.logs()}"
        return stack.log_text("inference").count("is loaded after") == starts and stack.agent("active", run) > 0

    _until(is_working, stack, "generation", LOADED_WITHIN_S)
    time.sleep(1.5)
    assert stack.agent("active", run), stack.logs()
    return _engine_processes(stack)


def _gone(processes: Iterable[int]) -> bool:
    """Are they no more, or only waiting for their parent to take note?"""
    for pid in processes:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                return False
    return True


def _ended_with_every_call_once(stack: VllmStack, run: str) -> None:
    assert_every_call_once(stack, stack.wait_until_ended(run, keep=ALL, within_s=LOADED_WITHIN_S + 120))


def test_kills_leave_no_orphan_and_a_stopped_worker_finishes_its_calls(stack: VllmStack) -> None:
    stack.start(*ALL)
    _until(lambda: "is loaded after" in stack.log_text("inference"), stack, "loading at the start", LOADED_WITHIN_S)
    run = explore(stack, "tiny", rollouts=4)

    processes = _generating(stack, run, starts=1)
    core = next(pid for pid, title in processes.items() if title.startswith("VLLM::Engine"))
    os.kill(core, signal.SIGKILL)
    assert stack.running["inference"].wait(timeout=15) == EXIT_ENGINE_LOST, stack.logs()
    _until(lambda: _gone(processes), stack, "the end of the engine's processes", 15)

    stack.start("inference")
    processes = _generating(stack, run, starts=2)
    stack.kill("inference")
    _until(lambda: _gone(processes), stack, "the end of the orphans", 15)

    _ended_with_every_call_once(stack, run)

    run = explore(stack, "tiny", rollouts=16)
    last = _generating(stack, run, starts=3)
    assert last
    stack.running["inference"].terminate()
    stack.running["inference"].wait(timeout=90)
    _until(lambda: _gone(last), stack, "the end of the engine with its worker", 15)
    _, shutdown, after = stack.log_text("inference").rpartition("Warm shutdown")
    assert shutdown
    assert f"answered {run}" in after, f"active calls may finish\n{stack.logs()}"
    answered = re.findall(r"answered (\S+#\d+)$", stack.log_text("inference"), re.MULTILINE)
    assert len(answered) == len(set(answered))


@pytest.mark.parametrize("seed", rounds(range(200, 206), sampled=1))
def test_random_kills_with_a_real_engine(stack: VllmStack, seed: int) -> None:
    """Kill a process of the engine, then any process, during generation. A third kill could end the last attempt of a call."""
    rng = random.Random(seed)
    stack.start(*ALL)
    run = explore(stack, "tiny", rollouts=4)
    starts = 1
    for victim in ("engine", rng.choice(["engine", *ALL])):
        processes = _generating(stack, run, starts)
        time.sleep(rng.uniform(0.0, 1.0))
        if victim == "engine":
            os.kill(rng.choice(sorted(processes)), signal.SIGKILL)
            stack.running["inference"].wait(timeout=20)
        else:
            stack.kill(victim)
        starts += victim in {"engine", "inference"}
        stack.keep_up(ALL)
    _ended_with_every_call_once(stack, run)
