"""Warm processes, each for one piece of code: importing the libraries takes a second, a process that waits takes none.

`warm` of them wait, at most `at_once` run. Nothing is started before the first piece of code, and after `idle_s` without one
those that wait are ended: they hold about 100 MB each. Where none waits, the code gets a bare process, which imports what the
code asks for and nothing else: that is sooner than a warm one would be.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from workers.sandbox.execution import Execution
from workers.sandbox.process import NotStarted, SingleUse

log = logging.getLogger(__name__)
_TRIES = 3
#: Warming takes a processor for a second; most code is done before that begins.
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
        """How many warm processes wait."""
        return len(self._ready)

    @property
    def running(self) -> int:
        """How many pieces of code run."""
        return len(self._jobs)

    async def run(self, code: str, *, wall_s: float | None = None) -> Execution:
        """Run one piece of code in a process of its own. Raises `NotStarted` where none can be started.

        Cancelling ends the code, and so does `close`; its process is gone when this returns.
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
                # It died while it waited, for example because memory ran out; the code was not given to it.
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
            raise NotStarted(str(error) or "it does not become ready") from error

    def fill(self) -> None:
        """Start as many warm processes as should wait, one after the other. Returns at once."""
        if not self._closed and (self._filling is None or self._filling.done()):
            self._filling = asyncio.create_task(self._fill())

    async def _fill(self) -> None:
        while len(self._ready) < self._warm:
            try:
                self._ready.append(await self._start(True))
            except (NotStarted, OSError, TimeoutError) as error:
                log.warning("a warm process of the sandbox does not start: %s", error)
                return

    def _rest(self) -> None:
        """End what waits, unless somebody has work for it."""
        if self._jobs or self.queued or (self._filling is not None and not self._filling.done()):
            self._later("rest", self._idle_s, self._rest)
            return
        ending, self._ready = list(self._ready), deque()
        self._filling = asyncio.create_task(_ended(ending))

    def _later(self, what: str, after_s: float, act: Callable[[], None]) -> None:
        """Do it once, `after_s` after the last time that this was asked; filling is not put off."""
        pending = self._timers.get(what)
        if pending is not None and not pending.cancelled() and pending.when() > asyncio.get_running_loop().time():
            if what == "fill":
                return
            pending.cancel()
        if not self._closed:
            self._timers[what] = asyncio.get_running_loop().call_later(after_s, act)

    async def close(self) -> None:
        """End everything that waits, starts or runs; callers of `run` are cancelled."""
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
