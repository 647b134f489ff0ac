"""Warm processes: used once, replaced, ended when idle, and ended with the worker."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.sandbox.conftest import PROJECT, needed
from workers.sandbox.environment import find
from workers.sandbox.execution import Limits
from workers.sandbox.fences import Level, fenced
from workers.sandbox.pool import Pool
from workers.sandbox.probe import probe
from workers.sandbox.process import NotStarted, SingleUse

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Starts:
    """Starts processes and keeps a list of them."""

    def __init__(self, level: Level) -> None:
        self.level: Level = level
        self.made: list[SingleUse] = []
        self.broken = False

    async def __call__(self, warm: bool) -> SingleUse:
        if self.broken:
            raise NotStarted("the disk is full")
        process = await SingleUse.start(fenced(self.level, find(), Limits()), Limits(), warm=())
        self.made.append(process)
        return process


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def level() -> Level:
    found = await probe()
    needed(found)
    assert found.level != "off"
    return found.level


@pytest_asyncio.fixture(loop_scope="module")
async def starts(level: Level) -> AsyncIterator[Starts]:
    made = Starts(level)
    yield made
    assert not any(process.is_alive for process in made.made), "a process was left behind"


async def _ready(pool: Pool, count: int) -> None:
    async with asyncio.timeout(30):
        while pool.ready != count:
            await asyncio.sleep(0.01)


async def test_every_process_runs_one_piece_of_code_and_is_replaced(starts: Starts) -> None:
    pool = Pool(starts, warm=1, at_once=1)
    for number in range(3):
        done = await pool.run(f"print({number})")
        assert (done.stdout, done.error) == (f"{number}\n", "")
    await _ready(pool, 1)
    await pool.close()
    assert 4 <= len(starts.made) <= 5


async def test_nothing_starts_before_the_first_code(starts: Starts) -> None:
    pool = Pool(starts, warm=2, at_once=1)
    await asyncio.sleep(0.05)
    assert starts.made == []
    await pool.close()


async def test_the_number_of_running_processes_is_limited(starts: Starts) -> None:
    pool = Pool(starts, warm=0, at_once=2)
    calls = [asyncio.create_task(pool.run("import time; time.sleep(0.2)")) for _ in range(5)]
    most = 0
    while not all(call.done() for call in calls):
        most = max(most, pool.running)
        await asyncio.sleep(0.01)
    await pool.close()
    assert most == 2
    assert pool.running == pool.queued == 0


async def test_a_waiting_process_that_died_is_replaced(starts: Starts) -> None:
    pool = Pool(starts, warm=1, at_once=1)
    await pool.run("pass")
    await _ready(pool, 1)
    os.killpg(starts.made[-1]._process.pid, signal.SIGKILL)
    async with asyncio.timeout(10):
        while starts.made[-1].is_alive:
            await asyncio.sleep(0.01)
    done = await pool.run("print('alive')")
    await pool.close()
    assert done.stdout == "alive\n"


async def test_idle_processes_are_ended(starts: Starts) -> None:
    pool = Pool(starts, warm=1, at_once=1, idle_s=1.0)
    await pool.run("pass")
    async with asyncio.timeout(30):
        while len(starts.made) < 2 or any(process.is_alive for process in starts.made):
            await asyncio.sleep(0.01)
    assert pool.ready == 0
    assert (await pool.run("print('again')")).stdout == "again\n"
    await pool.close()


async def test_all_waiting_calls_get_the_reason_why_no_process_starts(starts: Starts) -> None:
    starts.broken = True
    pool = Pool(starts, warm=1, at_once=3)
    results = await asyncio.gather(*(pool.run("pass") for _ in range(5)), return_exceptions=True)
    assert [str(result) for result in results] == ["the disk is full"] * 5
    starts.broken = False
    assert (await pool.run("print('fixed')")).stdout == "fixed\n"
    await pool.close()


async def test_a_cancelled_call_leaves_its_slot_to_the_next(starts: Starts) -> None:
    pool = Pool(starts, warm=0, at_once=1)
    running = asyncio.create_task(pool.run("while True: pass"))
    waiting = asyncio.create_task(pool.run("while True: pass"))
    while not starts.made:
        await asyncio.sleep(0.01)
    waiting.cancel()
    running.cancel()
    assert (await pool.run("print('next')")).stdout == "next\n"
    assert (pool.running, pool.queued) == (0, 0)
    await asyncio.gather(running, waiting, return_exceptions=True)
    await pool.close()


async def test_cancelling_at_any_moment_leaves_nothing_hanging(starts: Starts) -> None:
    pool = Pool(starts, warm=1, at_once=3)
    async with asyncio.timeout(120):
        for step in range(40):
            calls = [asyncio.create_task(pool.run("import time; time.sleep(0.01)")) for _ in range(3)]
            await asyncio.sleep(0.002 * step)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        assert (await pool.run("print('well')")).stdout == "well\n"
        assert (pool.running, pool.queued) == (0, 0)
        await pool.close()


async def test_without_a_warm_process_the_code_gets_a_cold_one(level: Level) -> None:
    requests: list[bool] = []

    async def start(warm: bool) -> SingleUse:
        requests.append(warm)
        return await SingleUse.start(fenced(level, find(), Limits()), Limits(), warm=())

    pool = Pool(start, warm=1, at_once=1)
    await pool.run("pass")
    await _ready(pool, 1)
    await pool.run("pass")
    await pool.close()
    assert requests == [False, True]


_WORKER = """
import asyncio
from workers.sandbox.sandbox import Sandbox, SandboxOptions
async def main():
    sandbox = Sandbox(SandboxOptions(level={level!r}, warm=2, libraries=()))
    running = asyncio.create_task(sandbox.run("while True: pass"))
    while sandbox.ready < 2 or not sandbox.running:
        await asyncio.sleep(0.01)
    print("running", flush=True)
    await running
asyncio.run(main())
"""


@pytest.mark.kill
@pytest.mark.parametrize("fence", ["bubblewrap", "landlock"])
async def test_all_code_of_a_killed_worker_is_ended(fence: Level) -> None:
    needed(await probe(fence))
    worker = subprocess.Popen([sys.executable, "-c", _WORKER.format(level=fence)], cwd=PROJECT, stdout=subprocess.PIPE)
    assert worker.stdout is not None
    assert worker.stdout.readline() == b"running\n"
    family = _descendants(worker.pid)
    assert len(family) >= 3
    worker.kill()
    worker.wait()
    worker.stdout.close()
    until = time.monotonic() + 10
    while left := [pid for pid in family if _is_running(pid)]:
        assert time.monotonic() < until, f"still alive: {left}"
        await asyncio.sleep(0.05)


def _descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [found for child in map(int, children) for found in (child, *_descendants(child))]


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
