"""A test that hangs in an event loop ends at its time limit, and says which tasks wait and what epoll watches."""

import asyncio
import os
import re
import signal
import threading
import time

import pytest

from apps.processes.loops import new_event_loop
from tests.hangs import Watch, described


async def described_while_a_task_waits() -> str:
    task = asyncio.create_task(asyncio.sleep(60))
    await asyncio.sleep(0)
    words = described()
    task.cancel()
    return words


def test_tasks_system_calls_and_descriptors_are_described() -> None:
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        words = runner.run(described_while_a_task_waits())
    assert re.search(r"sleep > .*Future pending", words)
    assert "thread " in words
    assert "tfd:" in words, "the loop's epoll instance watches its descriptors"


def test_it_is_printed_once_and_only_for_a_test_that_takes_too_long() -> None:
    read, write = os.pipe()
    os.set_blocking(read, False)
    watch = Watch(write, 0.2, step_s=0.05)
    watch.begin()
    watch.end()
    time.sleep(0.4)
    watch.begin()
    time.sleep(1)
    text = os.read(read, 1_000_000).decode()
    assert text.count("what is waited for") == 1


def test_a_time_limit_stops_a_loop_in_which_nothing_happens(capsys: pytest.CaptureFixture[str]) -> None:
    def limit(*_: object) -> None:
        pytest.fail("Timeout")

    async def waiting() -> None:
        await asyncio.get_running_loop().create_future()

    before = signal.signal(signal.SIGUSR1, limit)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner, pytest.raises(RuntimeError, match="loop stopped"):
            runner.run(waiting())
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert "waiting" in capsys.readouterr().err
