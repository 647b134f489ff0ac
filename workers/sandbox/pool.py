"""Pool of warm processes, each for one piece of code, because importing the libraries takes a second.

`warm` processes wait, at most `at_once` run. The first piece of code starts the pool. After `idle_s` without code the waiting
processes end, as each holds about 100 MB. If none waits, the code gets a bare process, which imports only what the code needs;
that is faster than warming one.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from workers.sandbox.execution import Execution
from workers.sandbox.process import NotStarted, SingleUse

log = logging.getLogger(__name__)
_TRIES = 3
#: Warming keeps a processor busy for a second; most code ends before this delay.
_FILL_AFTER_S = 0.3

Start = Callable[[bool], Awaitable[SingleUse]]
"""Starts a process, with the libraries imported or bare. Raises `NotStarted`, `OSError`."""


class Pool:
    """Runs code on processes from `start`. Use it from one event loop."""

    def __init__(self, start: Start, *, warm: int, at_once: int, idle_s: float = 600.0) -> None:
        self._start = start
        self._warm = warm
        self._places = asyncio.Semaphore(at_once)
        self._idle_s = idle_s
        self._ready: deque[SingleUse] = deque()
        self._filling: asyncio.Task[None] | None = None
        self._jobs: set[asyncio.Task[Execution]] = set()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._closed = False
        self.queued = 0

    @property
    def ready(self) -> int:
        """The number of waiting warm processes."""
        return len(self._ready)

    @property
    def running(self) -> int:
        """The number of running pieces of code."""
        return len(self._jobs)

    async def run(self, code: str, *, wall_s: float | None = None) -> Execution:
        """Run one piece of code in its own process. Raises `NotStarted` if none can be started.

        Cancelling and `close` end the code. Its process is gone when this returns.
        """
        self.queued += 1
        try:
            await self._places.acquire()
        finally:
            self.queued -= 1
        job = asyncio.create_task(self._run(code, wall_s))
        self._jobs.add(job)
        try:
            return await job
        finally:
            job.cancel()
            await asyncio.wait([job])
            self._jobs.discard(job)
            self._places.release()
            self._later("rest", self._idle_s, self._rest)

    async def _run(self, code: str, wall_s: float | None) -> Execution:
        for tried in range(1, _TRIES + 1):
            process = await self._take()
            try:
                return await process.run(code, wall_s=wall_s)
            except NotStarted:
                # The process died while it waited, for example for lack of memory, and did not receive the code.
                if tried == _TRIES:
                    raise
        raise AssertionError("unreachable")

    async def _take(self) -> SingleUse:
        if self._closed:
            raise NotStarted("the sandbox is closed")
        self._later("fill", _FILL_AFTER_S, self.fill)
        while self._ready:
            process = self._ready.popleft()
            if process.is_alive:
                return process
            await process.close()
        try:
            return await self._start(False)
        except (OSError, TimeoutError) as error:
            raise NotStarted(str(error) or "it did not become ready in time") from error

    def fill(self) -> None:
        """Start missing warm processes, one after the other. Returns at once."""
        if not self._closed and (self._filling is None or self._filling.done()):
            self._filling = asyncio.create_task(self._fill())

    async def _fill(self) -> None:
        while len(self._ready) < self._warm:
            try:
                self._ready.append(await self._start(True))
            except (NotStarted, OSError, TimeoutError) as error:
                log.warning("could not start a warm process of the sandbox: %s", error)
                return

    def _rest(self) -> None:
        """End the waiting processes unless there is work for them."""
        if self._jobs or self.queued or (self._filling is not None and not self._filling.done()):
            self._later("rest", self._idle_s, self._rest)
            return
        ending, self._ready = list(self._ready), deque()
        self._filling = asyncio.create_task(_ended(ending))

    def _later(self, what: str, after_s: float, act: Callable[[], None]) -> None:
        """Call `act` once, `after_s` after the last such request. A later request does not delay "fill"."""
        pending = self._timers.get(what)
        if pending is not None and not pending.cancelled() and pending.when() > asyncio.get_running_loop().time():
            if what == "fill":
                return
            pending.cancel()
        if not self._closed:
            self._timers[what] = asyncio.get_running_loop().call_later(after_s, act)

    async def close(self) -> None:
        """End all processes that wait, start or run. Callers of `run` are cancelled."""
        self._closed = True
        for timer in self._timers.values():
            timer.cancel()
        tasks = [task for task in (self._filling, *self._jobs) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _ended(list(self._ready))
        self._ready.clear()


async def _ended(processes: list[SingleUse]) -> None:
    await asyncio.gather(*(process.close() for process in processes))
