"""Tests that hang in an event loop: they end at their time limit, with what they waited for.

uvloop catches what a handler of a signal raises, so the time limit of a test did nothing in it: the process hung until it was
ended. Now the loop stops. `described` shows what Python's stacks do not: tasks, system calls of threads, what epoll watches. It
is also printed shortly before a process is ended whose loop does not even see the signal.
"""

import asyncio
import gc
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

try:
    import uvloop
except ImportError:  # It does not exist for Windows.
    uvloop = None  # type: ignore[assignment]

_OWN = Path("/proc/self")


def described() -> str:
    """The waiting tasks of all loops, the system call of each thread, and the descriptors that each epoll instance watches."""
    tasks = [f"task {task.get_name()}: {' > '.join(_awaited(task.get_coro()))}" for task in _tasks()]
    calls = [f"thread {one.name}: {_read(one / 'comm')} {_read(one / 'syscall')}" for one in _OWN.glob("task/*")]
    polls = [f"descriptor {one.name}: {_read(one)}" for one in _OWN.glob("fdinfo/*") if "tfd:" in _read(one)]
    links = [f"descriptor {one.name}: {_target(one)}" for one in _OWN.glob("fd/*")]
    return "\n".join(["", "== what is waited for ==", *tasks, *calls, *polls, *links, ""])


def time_limits_stop_loops() -> None:
    """Stop loops of uvloop, made from now on, in which a test fails in a handler of a signal."""
    if uvloop is not None and not hasattr(uvloop.new_event_loop, "__wrapped__"):
        uvloop.new_event_loop = _stopping(uvloop.new_event_loop)


def _stopping(new_loop: Callable[[], asyncio.AbstractEventLoop]) -> Callable[[], Any]:
    def made() -> asyncio.AbstractEventLoop:
        loop = new_loop()
        loop.set_exception_handler(_stop)
        return loop

    made.__wrapped__ = new_loop  # type: ignore[attr-defined]
    return made


def _stop(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    if isinstance(context.get("exception"), pytest.fail.Exception):
        sys.stderr.write(described())
        loop.stop()  # What runs in it raises RuntimeError.
    else:
        loop.default_exception_handler(context)


class Watch:
    """A thread that prints `described` once for a test that runs longer than its time."""

    def __init__(self, descriptor: int, seconds: float, step_s: float = 1.0) -> None:
        self._descriptor, self._seconds, self._step_s = descriptor, seconds, step_s
        self._until = float("inf")
        threading.Thread(target=self._work, name="watch for hangs", daemon=True).start()

    def begin(self) -> None:
        """A test begins."""
        self._until = time.monotonic() + self._seconds

    def end(self) -> None:
        """It is over."""
        self._until = float("inf")

    def _work(self) -> None:
        never = threading.Event()
        while True:
            never.wait(self._step_s)  # Tests replace time.sleep.
            if time.monotonic() > self._until:
                self.end()
                os.write(self._descriptor, described().encode(errors="replace"))


def _tasks() -> list["asyncio.Task[object]"]:
    # Python 3.11 has the first of these names, 3.12 the second.
    found: list[asyncio.Task[object]] = [
        task for name in ("_all_tasks", "_scheduled_tasks") for task in list(getattr(asyncio.tasks, name, ()))
    ]
    return [task for task in found if not task.done()]


def _awaited(waiting: Any) -> Iterator[str]:
    """The coroutines and generators from the outermost to what is waited for, each with its line."""
    while waiting is not None:
        frame = _first(waiting, "cr_frame", "ag_frame", "gi_frame")
        yield f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}" if frame else repr(waiting)
        inner = _first(waiting, "cr_await", "ag_await", "gi_yieldfrom")
        if inner is None and not frame:  # An iterator over a future, or a step of an asynchronous generator.
            kinds = (asyncio.Future, types.AsyncGeneratorType)
            inner = next((one for one in gc.get_referents(waiting) if isinstance(one, kinds)), None)
        waiting = inner


def _first(of: Any, *names: str) -> Any:
    return next((found for name in names if (found := getattr(of, name, None)) is not None), None)


def _target(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return "(closed)"


def _read(path: Path) -> str:
    try:
        return path.read_text().strip().replace("\n", " | ")
    except OSError as error:
        return f"({error.strerror})"
