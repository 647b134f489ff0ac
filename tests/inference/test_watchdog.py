"""A loop that no longer turns ends the process; a busy or a sleeping one does not."""

import asyncio
import subprocess
import sys
import threading
import time

from workers.watchdog import EXIT_STUCK, LoopWatchdog, loading

STUCK = """
import asyncio, time, sys
from workers.watchdog import LoopWatchdog
async def main():
    watchdog = LoopWatchdog(asyncio.get_running_loop(), stuck_s=0.3)
    await asyncio.sleep(0.4)
    print("turning", flush=True)
    time.sleep(30)
asyncio.run(main())
"""


def test_a_stuck_loop_ends_the_process_with_its_own_exit_code() -> None:
    began = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=20)
    assert ended.returncode == EXIT_STUCK
    assert "turning" in ended.stdout
    assert "has not turned" in ended.stderr
    assert time.monotonic() - began < 10


async def test_a_turning_loop_is_left_alone() -> None:
    stuck = threading.Event()
    watchdog = LoopWatchdog(asyncio.get_running_loop(), stuck_s=1.0, on_stuck=stuck.set)
    await asyncio.sleep(1.5)
    await asyncio.to_thread(watchdog.stop)
    assert not stuck.is_set()


async def test_a_blocked_loop_is_noticed_and_a_short_block_is_not() -> None:
    stuck = threading.Event()
    watchdog = LoopWatchdog(asyncio.get_running_loop(), stuck_s=0.5, on_stuck=stuck.set)
    time.sleep(0.2)
    await asyncio.sleep(0.1)
    assert not stuck.is_set()
    time.sleep(0.9)
    assert stuck.is_set()
    await asyncio.to_thread(watchdog.stop)


async def test_a_loop_that_is_blocked_while_an_engine_is_loaded_is_let_be_and_watched_again_afterwards() -> None:
    stuck = threading.Event()
    watchdog = LoopWatchdog(asyncio.get_running_loop(), stuck_s=0.3, on_stuck=stuck.set)
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
