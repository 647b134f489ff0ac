"""Viewers of a streamed text over any protocol: the tokens they receive, and the delay of each.

A token is `t<nanoseconds since 1970> `: the time at which it was due, by the clock that all processes share. A server's delay
in producing tokens counts too. Viewers search for tokens in raw frames, so the client costs the same for each server.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from statistics import quantiles
from typing import Protocol

STAMP = re.compile(r"t(\d{19}) ")
TOKENS_PER_S = 20
OPENED_AT_ONCE = 10
GRACE_S = 15.0


class Viewer(Protocol):
    """One client. Subclasses connect in `open`, ask for the text in `begin` and yield raw frames in `frames`."""

    async def open(self) -> None:
        """Connect; return when the server is ready to send."""
        return

    async def begin(self) -> None:
        """Request the text, if each viewer has its own."""
        return

    def frames(self) -> AsyncIterator[str]:
        """Raw frames as they arrive."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        return


@dataclass
class Watched:
    """Delays of all tokens at all viewers in milliseconds, and the number of expected tokens."""

    delays: list[float] = field(default_factory=list)
    expected: int = 0

    @property
    def lost(self) -> int:
        return self.expected - len(self.delays)

    @property
    def median(self) -> float:
        return self._quantile(50)

    @property
    def late(self) -> float:
        """The 95th percentile over all tokens that were due. A lost token counts as later than every other."""
        return self._quantile(95)

    def _quantile(self, percent: int) -> float:
        missing = [max(GRACE_S * 1000, max(self.delays, default=0.0))] * self.lost
        return quantiles([*self.delays, *missing], n=100, method="inclusive")[percent - 1]


async def watch(
    make: Callable[[], Viewer], viewers: int, tokens: int, publish: Callable[[], Awaitable[None]] | None = None
) -> Watched:
    """Open `viewers`, begin them all, and read `tokens` tokens with each.

    `publish`, for a shared text, writes it and returns after its last token. Tokens that have not arrived `GRACE_S` after the
    last was due are lost.
    """
    opened = [make() for _ in range(viewers)]
    gate = asyncio.Semaphore(OPENED_AT_ONCE)

    async def open_one(viewer: Viewer) -> None:
        async with gate:
            await viewer.open()

    result = Watched(expected=viewers * tokens)
    await asyncio.gather(*(open_one(viewer) for viewer in opened))
    readers = [asyncio.create_task(_read(viewer, tokens, result.delays)) for viewer in opened]
    try:
        await asyncio.gather(*(viewer.begin() for viewer in opened))
        if publish is None:
            await asyncio.sleep(tokens / TOKENS_PER_S)
        else:
            await publish()
        await asyncio.wait(readers, timeout=GRACE_S)
    finally:
        for reader in readers:
            reader.cancel()
        await asyncio.gather(*readers, return_exceptions=True)
        await asyncio.gather(*(viewer.close() for viewer in opened), return_exceptions=True)
    return result


async def _read(viewer: Viewer, tokens: int, delays: list[float]) -> None:
    """Record each token once: later frames may repeat earlier ones."""
    seen, newest = 0, 0
    async for frame in viewer.frames():
        now = time.time_ns()
        for found in STAMP.findall(frame):
            stamp = int(found)
            if stamp > newest:
                newest = stamp
                seen += 1
                delays.append((now - stamp) / 1e6)
        if seen >= tokens:
            return
