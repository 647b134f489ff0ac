"""Ends a process whose event loop no longer turns: its supervisor restarts it, and other workers take its calls meanwhile."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from workers import exits

_loading: list[str] = []


@contextlib.contextmanager
def loading(what: str) -> Iterator[None]:
    """Suspend every watchdog of this process: importing an engine's library can hold the GIL for many seconds."""
    _loading.append(what)
    try:
        yield
    finally:
        _loading.remove(what)


def processor_waits() -> dict[str, float]:
    """Seconds that each thread of this process was ready to run but had no processor, by thread id; empty except on Linux."""
    waits = {}
    for task in Path("/proc/self/task").glob("*"):
        with contextlib.suppress(OSError, IndexError, ValueError):  # The thread has ended, or the kernel does not count.
            waits[task.name] = int((task / "schedstat").read_text().split()[1]) / 1e9
    return waits


class LoopWatchdog:
    """Asks the loop for an answer ten times in `stuck_s` seconds; calls `on_stuck` after `stuck_s` seconds without one.

    Only time in which the process could have run counts. Each interval is shortened by the longest wait of one thread for a
    processor, so a loop on an overloaded machine is slow but not stuck. A stopped process or a sleeping laptop misses one
    interval, not all of them. `waits` replaces `processor_waits`, for tests.
    """

    _LOOKS = 10

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        stuck_s: float = 30.0,
        on_stuck: Callable[[], None] | None = None,
        waits: Callable[[], Mapping[str, float]] = processor_waits,
    ) -> None:
        self._loop = loop
        self._pause_s = stuck_s / self._LOOKS
        self._stuck_s = stuck_s
        self._on_stuck = on_stuck or self._end_process
        self._waits = waits
        self._answered = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="loop-watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        self._thread.join(timeout=self._pause_s + 1.0)

    def _watch(self) -> None:
        unanswered_s = 0.0
        before = self._waits()
        self._ask()
        while not self._stopped.wait(self._pause_s):
            now = self._waits()
            waited_s = max((seconds - before.get(thread, seconds) for thread, seconds in now.items()), default=0.0)
            before = now
            if self._answered.is_set():
                unanswered_s = 0.0
                self._ask()
                continue
            unanswered_s += 0.0 if _loading else max(0.0, self._pause_s - waited_s)
            if unanswered_s > self._stuck_s - self._pause_s / 2:
                self._on_stuck()
                return

    def _ask(self) -> None:
        self._answered.clear()
        try:
            self._loop.call_soon_threadsafe(self._answered.set)
        except RuntimeError:  # The loop is closed: there is nothing left to watch.
            self._stopped.set()

    def _end_process(self) -> None:
        exits.end_process(exits.EXIT_STUCK, f"the engine loop has not turned for {self._stuck_s:g} s")
