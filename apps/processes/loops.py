"""Event loops: of processes that carry many calls, and of one of a thousand runs."""

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed: a call costs a sixth less processor time on it (benchmarks/orchestration.py)."""
    try:
        import uvloop
    except ImportError:  # It does not exist for Windows.
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def small_event_loop() -> asyncio.AbstractEventLoop:
    """Python's own loop. uvloop's takes 0.3 MB each, which adds up where each of a thousand runs has one."""
    return asyncio.new_event_loop()
