"""How the engines of a host are. Each is asked by itself: one that does not answer hides none of the others."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable

from apps.reasoning.domain.errors import BackendError
from apps.reasoning.domain.generation import Health

log = logging.getLogger(__name__)
SILENT_S = 15.0
"""For so long the last answer of an engine that does not answer any more is believed."""


class Checkup:
    """`ask` gets the health of an engine by its name; an answer is waited for `patience_s`. Lives in one loop."""

    def __init__(self, ask: Callable[[str], Awaitable[Health]], patience_s: float) -> None:
        self._ask = ask
        self._patience_s = patience_s
        self._last: dict[str, Health] = {}
        self._heard_at: dict[str, float] = {}

    async def of(self, engines: Iterable[str]) -> dict[str, Health]:
        """The health of each; what an engine raises is its health too."""
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
            log.exception("the health of %s", engine)
            health = Health(state="down", detail=f"It cannot say how it is ({type(error).__name__}: {error}).")
        self._last[engine], self._heard_at[engine] = health, time.monotonic()
        return health

    def _without_answer(self, engine: str) -> Health:
        silent_s = time.monotonic() - self._heard_at.setdefault(engine, time.monotonic())
        if silent_s > SILENT_S:
            return Health(state="down", detail=f"It has not said how it is for {silent_s:.0f} seconds.")
        return self._last.get(engine) or Health(state="loading", detail="It has not said yet how it is.")
