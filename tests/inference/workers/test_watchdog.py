"""A blocked event loop ends the process; a busy or idle loop, or one on a busy machine, does not."""

import asyncio
import itertools
import subprocess
import sys
import threading
import time

from workers.exits import EXIT_STUCK
from workers.running import HostOptions
from workers.watchdog import LoopWatchdog, loading, processor_waits

STUCK = """
import asyncio, time, sys
from workers.watchdog import LoopWatchdog
async def main():
    watchdog = LoopWatchdog(asyncio.get_running_loop(), stuck_s=0.3, waits=dict)
    await asyncio.sleep(0.4)
    print("turning", flush=True)
    time.sleep(30)
asyncio.run(main())
"""


def test_a_blocked_loop_ends_the_process_with_a_special_exit_code() -> None:
    began = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=20)
    assert ended.returncode == EXIT_STUCK
    assert "turning" in ended.stdout
    assert "has not turned" in ended.stderr
    assert time.monotonic() - began < 10


async def test_a_running_loop_is_left_alone() -> None:
    stuck = threading.Event()
    watchdog = LoopWatchdog(asyncio.get_running_loop(), stuck_s=1.0, on_stuck=stuck.set)
    await asyncio.sleep(1.5)
    await asyncio.to_thread(watchdog.stop)
    assert not stuck.is_set()


async def test_a_blocked_loop_is_noticed_and_a_short_block_is_not() -> None:
    stuck = threading.Event()
    watchdog = LoopWatchdog(asyncio.get_running_loop(), stuck_s=0.5, on_stuck=stuck.set, waits=dict)
    time.sleep(0.2)
    await asyncio.sleep(0.1)
    assert not stuck.is_set()
    time.sleep(0.9)
    assert stuck.is_set()
    await asyncio.to_thread(watchdog.stop)


async def test_a_loop_blocked_while_an_engine_is_loaded_is_ignored_and_watched_afterwards() -> None:
    stuck = threading.Event()
    watchdog = LoopWatchdog(asyncio.get_running_loop(), stuck_s=0.3, on_stuck=stuck.set, waits=dict)
    with loading("an engine"):
        time.sleep(0.8)
        await asyncio.sleep(0.1)
    assert not stuck.is_set()
    time.sleep(0.8)
    assert stuck.is_set()
    await asyncio.to_thread(watchdog.stop)


def test_a_closed_loop_ends_the_watch() -> None:
    loop = asyncio.new_event_loop()
    watchdog = LoopWatchdog(loop, stuck_s=0.1)
    loop.close()
    time.sleep(0.1)
    watchdog.stop()


async def test_time_that_the_machine_gave_to_other_processes_does_not_count() -> None:
    """A loop that did not run for five seconds, on a laptop busy with other work, once ended the process."""
    stuck = threading.Event()
    starved = itertools.count(0.0, 1.0)  # In each interval of 0.03 s, a thread waited a second for a processor.
    watchdog = LoopWatchdog(
        asyncio.get_running_loop(), stuck_s=0.3, on_stuck=stuck.set, waits=lambda: {"engine-loop": next(starved)}
    )
    time.sleep(0.9)
    assert not stuck.is_set()
    await asyncio.to_thread(watchdog.stop)


async def test_a_blocked_loop_is_noticed_although_other_threads_wait_a_little() -> None:
    stuck = threading.Event()
    waits = itertools.count(0.0, 0.01)
    watchdog = LoopWatchdog(asyncio.get_running_loop(), stuck_s=0.3, on_stuck=stuck.set, waits=lambda: {"other": next(waits)})
    time.sleep(0.9)
    assert stuck.is_set(), "two thirds of each interval count"
    await asyncio.to_thread(watchdog.stop)


def test_waiting_times_of_threads_come_from_the_kernel_and_the_default_is_thirty_seconds() -> None:
    if sys.platform == "linux":
        assert len(processor_waits()) >= threading.active_count()
        assert all(seconds >= 0.0 for seconds in processor_waits().values())
    assert HostOptions().stuck_s == 30.0
