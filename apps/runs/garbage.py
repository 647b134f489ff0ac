"""When Python's collector walks the objects of a long-lived process."""

import contextlib
import gc
import threading
from collections.abc import Callable, Iterator

_lock = threading.Lock()
_holding = 0


def set_aside(threshold: int = 10_000) -> None:
    """Leave what is loaded now out of every later walk, and walk seldom. Call once a process has loaded what it needs.

    Modules, models and settings are a quarter of a million objects that live as long as the process; a walk over them stops
    every thread for some tenths of a second. What a process makes while it works is freed by its reference counts but for
    cycles, of which up to `threshold` new objects may wait.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(threshold, 20, 20)


@contextlib.contextmanager
def held() -> Iterator[Callable[[], None]]:
    """The collector stays away until the function given is called, which may happen again, or the block ends.

    For a time in which much is made that is to stay, such as a replay: ten walks over what it had made so far took half a
    second of seven. What is there at the end is left out of later walks, as `set_aside` does; counts of references free it.
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
