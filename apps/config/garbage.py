"""When Python's collector walks the objects of a long-lived process."""

import gc


def set_aside(threshold: int = 10_000) -> None:
    """Leave what is loaded now out of every later walk, and walk seldom. Call once a process has loaded what it needs.

    Modules, models and settings are a quarter of a million objects that live as long as the process; a walk over them stops
    every thread for some tenths of a second. What a process makes while it works is freed by its reference counts but for
    cycles, of which up to `threshold` new objects may wait.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(threshold, 20, 20)
