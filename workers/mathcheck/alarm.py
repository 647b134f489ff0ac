"""A limit on the processor time of one claim: SymPy has no limits of its own.

Processor time, so that a busy machine changes no answer. It works in the main thread; elsewhere, and where the system refuses
the timer, callers limit the process.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: It rings again so long after: what is raised in a callback of the collector, or where SymPy catches everything, is lost.
AGAIN_S = 0.5


class TookTooLong(Exception):
    """The time of a claim is over."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise TookTooLong in the block after `seconds` of processor time."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGPROF, over)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds, AGAIN_S)
    except OSError:
        signal.signal(signal.SIGPROF, before)
        yield
        return
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
