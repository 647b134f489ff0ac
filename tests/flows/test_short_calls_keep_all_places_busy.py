"""A real worker with four places and calls of a tenth of a second: more are read as soon as there is room."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu import Connection

from apps.config.celery import app
from apps.config.stack import inference_threads
from apps.processes.streams import fingerprint_of, heartbeats, queue_length, results_key
from apps.runs.calls.sending import send_now
from tests.flows.short_calls import ALIASES, PLACES, TAKES_S
from tests.inference.conftest import a_request

ROOT = Path(__file__).resolve().parents[2]
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")
QUEUE = "inference.short"
CALLS = 80
IDEAL_S = CALLS * TAKES_S / PLACES
URGENT, ORDINARY = 0, 6
Worker = Callable[[int], None]


@pytest.fixture
def worker(valkey: Any, _valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """Starts a worker with the given number of threads, which takes the calls of `send`."""
    url = _valkey_url.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
    env = os.environ | {"DATA_DIR": str(tmp_path), "REDIS_URL": _valkey_url, "LOG_LEVEL": "WARNING", "DRAIN_S": "0"}
    started: list[subprocess.Popen[bytes]] = []

    def start(threads: int) -> None:
        name = f"short{len(started)}@%h"
        command = [sys.executable, "-m", "celery", "-A", "tests.flows.short_calls", "worker", "-P", "threads",
                   "-c", str(threads), "-Q", QUEUE, "-n", name, *QUIET]  # fmt: skip
        with (tmp_path / "worker.log").open("ab") as log:
            started.append(subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log))

    options = {"priority_steps": [0, 3, 6, 9]}
    with Connection(url, transport_options=options) as connection:
        monkeypatch.setattr(app, "producer_or_acquire", lambda _=None: contextlib.nullcontext(connection.Producer()))
        yield start
    for process in started:
        process.kill()
        process.wait(timeout=20)


def send(count: int, *, run: str = "run", priority: int = ORDINARY) -> None:
    for number in range(count):
        request = a_request(f"call/{number}", alias="short", run=run, priority=priority)
        send_now([(request.model_dump_json(), fingerprint_of(request))], QUEUE, priority)


def wait_for(condition: Callable[[], bool], within_s: float = 60) -> None:
    until = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


def answered(valkey: Any, run: str = "run") -> int:
    return int(valkey.xlen(results_key(run)))


@pytest.mark.parametrize("threads", [inference_threads(list(ALIASES.values())), PLACES + 1, 16 * PLACES])
def test_short_calls_keep_all_places_busy(worker: Worker, valkey: Any, threads: int) -> None:
    send(CALLS)
    worker(threads)
    wait_for(lambda: answered(valkey) > 0)
    began = time.monotonic()
    wait_for(lambda: answered(valkey) == CALLS)
    assert time.monotonic() - began < 3 * IDEAL_S


def test_few_calls_are_held_and_urgent_calls_pass_a_crowded_queue(worker: Worker, valkey: Any) -> None:
    send(CALLS)
    worker(16 * PLACES)
    wait_for(lambda: queue_length(valkey, QUEUE) < CALLS)
    while answered(valkey) < CALLS / 4:
        left = queue_length(valkey, QUEUE)
        assert CALLS - left - answered(valkey) <= 1.5 * PLACES + 1
    before = answered(valkey)
    send(1, run="urgent", priority=URGENT)
    wait_for(lambda: answered(valkey, "urgent") == 1)
    assert answered(valkey) - before <= 4 * PLACES


def test_a_second_worker_finds_work_that_the_first_has_not_taken(worker: Worker, valkey: Any) -> None:
    for _ in range(2):
        worker(inference_threads(list(ALIASES.values())))
    wait_for(lambda: len(heartbeats(valkey)) == 2)
    send(CALLS)
    wait_for(lambda: answered(valkey) == CALLS)
    workers = {json.loads(entry["final"])["worker"] for _, entry in valkey.xrange(results_key("run"))}
    assert len(workers) == 2
