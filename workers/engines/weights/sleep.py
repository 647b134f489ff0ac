"""An engine without calls gives the GPU's memory to others, and takes it back at the next call (vLLM's sleep mode).

Never run on a GPU: vLLM's CPU build ignores sleep, so only the order of the requests to vLLM is tested.
"""

import asyncio
import logging
import time
from collections.abc import Callable

from apps.reasoning.domain.errors import EngineLost
from apps.reasoning.inference.aliases import Alias, VllmOptions
from workers.engines.weights.exchange import ExchangingEngine, WeightExchange

log = logging.getLogger(__name__)

_POLL_S = 0.25


class Sleeper:
    """The sleep of one engine. `is_idle` is true while the backend has no calls."""

    def __init__(self, alias: Alias, weights: WeightExchange, is_idle: Callable[[], bool]) -> None:
        assert isinstance(alias.options, VllmOptions)
        self._name = alias.name
        self._after_s, self._level = alias.options.sleep_after_s, alias.options.sleep_level
        self._weights = weights
        self._is_idle = is_idle
        self._lock = asyncio.Lock()
        self.is_asleep = False

    async def watch(self, engine: ExchangingEngine) -> None:
        """Send the engine to sleep whenever it had no call for as long as the alias says. Ends if that fails."""
        busy_at = time.monotonic()
        while self._after_s:
            await asyncio.sleep(min(_POLL_S, self._after_s))
            if self.is_asleep or not self._is_idle():
                busy_at = time.monotonic()
            elif time.monotonic() - busy_at >= self._after_s:
                try:
                    await self._sleep(engine)
                except Exception as error:
                    engine.give_up(f"The engine of {self._name} did not fall asleep ({error})")
                    return

    async def awake(self, engine: ExchangingEngine) -> None:
        """Wake the engine for a call, which the backend already counts. Raises `EngineLost` if that fails."""
        if not self._after_s:
            return
        async with self._lock:
            if not self.is_asleep:
                return
            try:
                with engine.holding():
                    await self._wake(engine)
            except Exception as error:
                engine.give_up(f"The engine of {self._name} did not wake up ({error})")
                raise EngineLost("The engine did not wake up; it restarts.") from error
            self.is_asleep = False

    async def _sleep(self, engine: ExchangingEngine) -> None:
        async with self._lock:
            if self._is_idle():
                await engine.llm.sleep(level=self._level, mode="wait")
                self.is_asleep = True
                log.info("%s sleeps", self._name)

    async def _wake(self, engine: ExchangingEngine) -> None:
        """Level 1 kept the weights outside the GPU; level 2 kept none, so they are loaded before the cache comes back."""
        if self._level == 1:
            await engine.llm.wake_up()
        else:
            await engine.llm.wake_up(tags=["weights"])
            await self._weights.restore(engine)
            await engine.llm.wake_up(tags=["kv_cache"])
        log.info("%s is awake", self._name)
