"""The whole sandbox: probe once, keep a pool behind the strongest fence that holds, run code."""

import asyncio
import os
import time
from pathlib import Path

from pydantic import Field

from apps.reasoning.domain.values import Value
from workers.sandbox.environment import DEFAULT
from workers.sandbox.execution import Execution, Limits
from workers.sandbox.fences import Fenced, fenced
from workers.sandbox.pool import Pool
from workers.sandbox.probe import Choice, Probe, probe
from workers.sandbox.process import EXERCISE, LIBRARIES, SingleUse

#: Seconds between probes while no fence holds; an administrator may be fixing it.
_RETRY_S = 60.0


class SandboxOff(Exception):
    """No fence holds here, so no code runs. The message says why and how to fix it."""


class SandboxOptions(Value):
    """Options of a `Sandbox`. `level` "auto" uses the strongest fence that holds; a name accepts only that fence.

    `warm` processes wait for code, with `libraries` imported and `exercise` run. At most `at_once` run. After `idle_s` without
    code none waits. `debug` allows unsafe-subprocess.
    """

    level: Choice = "auto"
    environment: Path = DEFAULT
    warm: int = Field(default=2, ge=0, le=64)
    at_once: int = Field(default_factory=lambda: max(2, os.cpu_count() or 2), ge=1, le=256)
    idle_s: float = Field(default=600.0, gt=0)
    limits: Limits = Limits()
    libraries: tuple[str, ...] = LIBRARIES
    exercise: str = EXERCISE
    debug: bool = False


class Sandbox:
    """Runs code behind a fence. Use it from one event loop, whose thread must outlive the sandbox."""

    def __init__(self, options: SandboxOptions | None = None) -> None:
        self.options = options or SandboxOptions()
        self._probe: Probe | None = None
        self._probed_at = 0.0
        self._probing = asyncio.Lock()
        self._pool: Pool | None = None
        self._fenced: Fenced | None = None

    @property
    def running(self) -> int:
        return self._pool.running if self._pool else 0

    @property
    def queued(self) -> int:
        return self._pool.queued if self._pool else 0

    @property
    def ready(self) -> int:
        """The number of waiting warm processes."""
        return self._pool.ready if self._pool else 0

    async def probe(self) -> Probe:
        """The fence that holds on this machine. Tried once, and again every `_RETRY_S` while none holds."""
        async with self._probing:
            old = time.monotonic() - self._probed_at > _RETRY_S
            if self._probe is None or (self._probe.level == "off" and old):
                options = self.options
                found = await probe(options.level, folder=options.environment, limits=options.limits, debug=options.debug)
                self._probe, self._probed_at = found, time.monotonic()
        return self._probe

    async def warm_up(self) -> None:
        """Start the warm processes before the first code. Returns before they are ready."""
        (await self._pool_of_level()).fill()

    async def run(self, code: str, *, wall_s: float | None = None) -> Execution:
        """Run one piece of code to its end or its limit; cancelling ends it.

        Raises `SandboxOff` if no fence holds, `NotStarted` if a process cannot be started now.
        """
        pool = await self._pool_of_level()
        return await pool.run(code, wall_s=wall_s)

    async def _pool_of_level(self) -> Pool:
        found = await self.probe()
        if found.level == "off" or found.environment is None:
            raise SandboxOff(str(found))
        if self._pool is None:
            self._fenced = fenced(found.level, found.environment, self.options.limits)
            self._pool = Pool(self._started, warm=self.options.warm, at_once=self.options.at_once, idle_s=self.options.idle_s)
        return self._pool

    async def _started(self, warm: bool) -> SingleUse:
        assert self._fenced is not None
        options = self.options
        libraries, exercise = (options.libraries, options.exercise) if warm else ((), "")
        return await SingleUse.start(self._fenced, options.limits, warm=libraries, exercise=exercise)

    async def close(self) -> None:
        """End all waiting and running processes."""
        if self._pool is not None:
            await self._pool.close()
