"""Garbage collection of long-lived processes."""

import contextlib
import gc
import threading
from collections.abc import Callable, Iterator

_lock = threading.Lock()
_holding = 0


def set_aside(threshold: int = 10_000) -> None:
    """Exclude all current objects from later collections, and collect rarely. Call it when a process has loaded its modules.

    Modules, models and settings are a quarter of a million objects that live as long as the process; collecting them stops
    every thread for some tenths of a second. Later objects are freed by reference counts, except cycles, of which up to
    `threshold` new objects may wait.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(threshold, 20, 20)


@contextlib.contextmanager
def held() -> Iterator[Callable[[], None]]:
    """Turn the collector off until the yielded function is called (repeatable) or the block ends.

    For phases that create many lasting objects, such as a replay: ten collections took half a second of seven. Objects at the
    end are excluded from later collections, as in `set_aside`.
    """
    holds = True

    def let_go() -> None:
        nonlocal holds
        with _lock:
            if holds:
                holds = False
                _hold(-1)

    with _lock:
        _hold(1)
    try:
        yield let_go
    finally:
        let_go()


def _hold(change: int) -> None:
    global _holding
    _holding += change
    if _holding:
        gc.disable()
    else:
        gc.freeze()
        gc.enable()
