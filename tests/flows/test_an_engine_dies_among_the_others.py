"""Two workers, each with a real engine. Engines, workers and the broker are killed during generation."""

import os
import random
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.conftest import rounds
from tests.flows.database import PostgresServer, server_programs
from tests.flows.exploring import assert_every_call_once, explore, processes_below
from tests.flows.stack import Stack

WORKERS = ("inference", "inference2")
CARRIERS = ("valkey", "orchestrator")
ALL = (*CARRIERS, *WORKERS)
ALIAS = "smollm2"
DIED = "died (exit code -9)"
pytestmark = [
    pytest.mark.kill,
    pytest.mark.skipif(server_programs() is None, reason="PostgreSQL is not installed"),
    pytest.mark.xdist_group("postgres that dies"),
]


@pytest.fixture
def stack(server: PostgresServer) -> Iterator[Stack]:
    patient = {"LEASE_S": "6", "LEASE_RENEW_S": "2", "REDISPATCH_GRACE_S": "3"}
    with tempfile.TemporaryDirectory(prefix="ls-ov-flow-") as folder:
        stack = Stack(Path(folder), database=server.url, queue=f"inference.{ALIAS}", extra_env=patient)
        with stack:
            stack.agent("samples")
            yield stack


def _generating(stack: Stack) -> dict[str, int]:
    """The engine's process by worker, of the workers that generate. Waits for the first."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        busy = stack.agent("generating", ALIAS)
        if found := {name: core for name in WORKERS if stack.running[name].pid in busy for core in _cores(stack, name)}:
            return found
        time.sleep(0.1)
    raise AssertionError(f"no engine generates\n{stack.logs()}")


def _cores(stack: Stack, worker: str) -> list[int]:
    below = processes_below(stack.running[worker].pid)
    return [pid for pid, title in below.items() if "workers.engines.openvino_child" in title]


def _kill_engine(stack: Stack, worker: str, core: int) -> None:
    """kill -9, and wait until its worker has noticed."""
    before = stack.log_text(worker).count(DIED)
    os.kill(core, signal.SIGKILL)
    until = time.monotonic() + 20
    while stack.log_text(worker).count(DIED) == before:
        assert time.monotonic() < until, stack.logs()
        time.sleep(0.02)


@pytest.mark.parametrize("seed", rounds(range(302, 352), sampled=1))
def test_random_kills_of_engines_workers_and_broker(stack: Stack, server: PostgresServer, seed: int) -> None:
    """An engine, an engine or a worker, and something else, in any order: a call is given up when its third engine is lost."""
    rng = random.Random(seed)
    stack.start(*ALL)
    run = explore(stack, ALIAS, rollouts=12)
    victims = ["engine", rng.choice(["engine", "worker"]), rng.choice([*CARRIERS, "database"])]
    rng.shuffle(victims)
    for victim in victims:
        engines = _generating(stack)
        time.sleep(rng.uniform(0.0, 0.5))
        if victim == "engine":
            _kill_engine(stack, *rng.choice(sorted(engines.items())))
        elif victim == "database":
            server.kill()
            time.sleep(rng.uniform(0.0, 0.5))
            server.start()
        else:
            stack.kill(rng.choice(sorted(engines)) if victim == "worker" else victim)
            time.sleep(rng.uniform(0.0, 0.3))
        stack.keep_up(ALL)
    assert_every_call_once(stack, stack.wait_until_ended(run, keep=ALL, within_s=120), WORKERS)
