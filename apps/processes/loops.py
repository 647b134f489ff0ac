"""The event loop of processes that carry many calls."""

import asyncio


def new_event_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed: a call costs a sixth less processor time on it (benchmarks/orchestration.py)."""
    try:
        import uvloop
    except ImportError:  # It does not exist for Windows.
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
