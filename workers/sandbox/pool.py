"""Warm processes, each for one piece of code: starting an interpreter with its libraries takes a second, waiting none.

`warm` of them wait at any time, at most `at_once` run. Nothing is started before the first piece of code, and after `idle_s`
without one those that wait are ended: they hold about 100 MB each.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from workers.sandbox.execution import Execution
from workers.sandbox.process import NotStarted, SingleUse

log = logging.getLogger(__name__)
_TRIES = 3

Start = Callable[[], Awaitable[SingleUse]]


class Pool:
    """Runs code on processes from `start`. Use it from one event loop."""

    def __init__(self, start: Start, *, warm: int, at_once: int, idle_s: float = 600.0) -> None:
        self._start = start
        self._warm = warm
        self._places = asyncio.Semaphore(at_once)
        self._idle_s = idle_s
        self._ready: deque[SingleUse] = deque()
        self._waiting: deque[asyncio.Future[SingleUse]] = deque()
        self._starting: set[asyncio.Task[None]] = set()
        self._rest: asyncio.TimerHandle | None = None
        self._closed = False
        self.running = 0
        self.queued = 0

    @property
    def ready(self) -> int:
        """How many warm processes wait."""
        return len(self._ready)

    async def run(self, code: str, *, wall_s: float | None = None) -> Execution:
        """Run one piece of code in a process of its own. Raises `NotStarted` where none can be started."""
        self.queued += 1
        try:
            await self._places.acquire()
        finally:
            self.queued -= 1
        self.running += 1
        try:
            return await self._run(code, wall_s)
        finally:
            self.running -= 1
            self._places.release()
            self._rest_later()

    async def _run(self, code: str, wall_s: float | None) -> Execution:
        for tried in range(1, _TRIES + 1):
            process = await self._take()
            try:
                return await process.run(code, wall_s=wall_s)
            except NotStarted:
                # It died while it waited, for example because memory ran out; the code was not given to it.
                if tried == _TRIES:
                    raise
        raise AssertionError("unreachable")

    def fill(self) -> None:
        """Start as many processes as should wait. Returns at once."""
        if self._closed:
            return
        missing = self._warm + len(self._waiting) - len(self._ready) - len(self._starting)
        for _ in range(missing):
            task = asyncio.create_task(self._start_one())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _take(self) -> SingleUse:
        if self._closed:
            raise NotStarted("the sandbox is closed")
        while self._ready:
            process = self._ready.popleft()
            if process.is_alive:
                self.fill()
                return process
            await process.close()
        place: asyncio.Future[SingleUse] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self.fill()
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self._ready.append(place.result())
            raise
        finally:
            with contextlib.suppress(ValueError):
                self._waiting.remove(place)

    async def _start_one(self) -> None:
        try:
            process = await self._start()
        except (NotStarted, OSError, TimeoutError) as error:
            log.warning("a sandbox process does not start: %s", error)
            waiting = self._next_waiting()
            if waiting is not None:
                waiting.set_exception(NotStarted(str(error) or "it does not become ready"))
            return
        if self._closed:
            await process.close()
            return
        waiting = self._next_waiting()
        if waiting is None:
            self._ready.append(process)
        else:
            waiting.set_result(process)

    def _next_waiting(self) -> "asyncio.Future[SingleUse] | None":
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                return place
        return None

    def _rest_later(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
        self._rest = asyncio.get_running_loop().call_later(self._idle_s, self._rest_now)

    def _rest_now(self) -> None:
        if self.running or self.queued:
            return
        ending, self._ready = self._ready, deque()
        for process in ending:
            task = asyncio.create_task(process.close())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def close(self) -> None:
        """End the processes that wait or start; those that run end with their callers."""
        self._closed = True
        if self._rest is not None:
            self._rest.cancel()
        for place in self._waiting:
            if not place.done():
                place.set_exception(NotStarted("the sandbox is closed"))
        starting = list(self._starting)
        for task in starting:
            task.cancel()
        await asyncio.gather(*starting, return_exceptions=True)
        await asyncio.gather(*(process.close() for process in self._ready))
        self._ready.clear()
