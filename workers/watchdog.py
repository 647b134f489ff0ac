"""Ends a process whose event loop no longer turns: a supervisor can restart it, and others take its calls meanwhile."""

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator

log = logging.getLogger(__name__)

EXIT_STUCK = 70


_loading: list[str] = []


@contextlib.contextmanager
def loading(what: str) -> Iterator[None]:
    """Meanwhile no watchdog of this process ends it: importing an engine's library can hold Python's lock for many seconds."""
    _loading.append(what)
    try:
        yield
    finally:
        _loading.remove(what)


class LoopWatchdog:
    """Looks ten times in `stuck_s` seconds whether the loop answered the last look; calls `on_stuck` when none was answered.

    Looks are counted, not seconds: a process that was stopped or a laptop that slept has missed one look, not all of them.
    """

    _LOOKS = 10

    def __init__(
        self, loop: asyncio.AbstractEventLoop, *, stuck_s: float = 5.0, on_stuck: Callable[[], None] | None = None
    ) -> None:
        self._loop = loop
        self._pause_s = stuck_s / self._LOOKS
        self._stuck_s = stuck_s
        self._on_stuck = on_stuck or self._exit
        self._answered = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="loop-watchdog", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()
        self._thread.join(timeout=self._pause_s + 1.0)

    def _watch(self) -> None:
        missed = 0
        self._ask()
        while not self._stopped.wait(self._pause_s):
            if self._answered.is_set():
                missed = 0
                self._ask()
                continue
            missed += 0 if _loading else 1
            if missed >= self._LOOKS:
                self._on_stuck()
                return

    def _ask(self) -> None:
        self._answered.clear()
        try:
            self._loop.call_soon_threadsafe(self._answered.set)
        except RuntimeError:  # The loop is closed: there is nothing left to watch.
            self._stopped.set()

    def _exit(self) -> None:
        log.critical("the engine loop has not turned for %g s; this process ends and is started again", self._stuck_s)
        os._exit(EXIT_STUCK)
