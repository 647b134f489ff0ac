"""The last guard on time, because SymPy has no limits. A test that the guard ends is reported as stopped.

The guard counts processor time, so that a busy machine changes no answer. It allows far more than the limits on work (work.py).
The alarm works in the main thread only. In other threads, and where the system refuses the timer, callers limit the process.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
from types import FrameType

PER_CLAIM_S, PER_TEXT_S = 20.0, 120.0
#: Seconds until the alarm repeats: an exception in a callback of the collector, or one that SymPy catches, is lost.
AGAIN_S = 0.5


class TookTooLong(Exception):
    """The guard ended the test."""


class Guard:
    """The processor time that a text may use."""

    def __init__(self, seconds: float) -> None:
        self._end = process_time() + seconds

    @property
    def is_over(self) -> bool:
        return process_time() > self._end


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TookTooLong in the block after `seconds` of processor time."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    is_open = True

    def over(_number: int, _frame: FrameType | None) -> None:
        if is_open:
            raise TookTooLong

    before = signal.signal(signal.SIGPROF, over)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_S)
    except OSError:
        signal.signal(signal.SIGPROF, before)
        yield
        return
    try:
        try:
            yield
        finally:
            is_open = False  # A signal from here on must not keep the timer from being stopped.
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
