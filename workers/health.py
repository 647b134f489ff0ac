"""Health of a host's engines. Each engine is asked separately, so a silent one does not hide the others."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable

from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.generation import Health

log = logging.getLogger(__name__)
SILENT_S = 15.0
"""How long the last answer of a silent engine remains valid."""


class Checkup:
    """Asks engines for their health. `ask` takes an engine's name; `patience_s` limits the wait. Used from one loop."""

    def __init__(self, ask: Callable[[str], Awaitable[Health]], patience_s: float) -> None:
        self._ask = ask
        self._patience_s = patience_s
        self._last: dict[str, Health] = {}
        self._answered_at: dict[str, float] = {}

    async def of(self, engines: Iterable[str]) -> dict[str, Health]:
        """The health of each engine by name. An engine that raises is `down`, with the error as detail."""
        names = list(dict.fromkeys(engines))
        return dict(zip(names, await asyncio.gather(*map(self._of, names)), strict=True))

    async def _of(self, engine: str) -> Health:
        try:
            async with asyncio.timeout(self._patience_s):
                health = await self._ask(engine)
        except TimeoutError:
            return self._without_answer(engine)
        except BackendError as error:
            health = Health(state="down", detail=str(error))
        except Exception as error:
            log.exception("could not read the health of %s", engine)
            health = Health(state="down", detail=f"The health check failed ({type(error).__name__}: {error}).")
        self._last[engine], self._answered_at[engine] = health, time.monotonic()
        return health

    def _without_answer(self, engine: str) -> Health:
        silent_s = time.monotonic() - self._answered_at.setdefault(engine, time.monotonic())
        if silent_s > SILENT_S:
            return Health(state="down", detail=f"No answer to health checks for {silent_s:.0f} seconds.")
        return self._last.get(engine) or Health(state="loading", detail="No answer to a health check yet.")
