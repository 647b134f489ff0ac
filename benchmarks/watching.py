"""Viewers of a text as it is written, whatever the protocol: what they receive, and how late each token is.

A token is `t<nanoseconds since 1970> `: the moment at which it was due, by the clock all processes share. A server that lags
behind with making tokens is late by that too. Viewers look for tokens in the raw frames, so the client costs each server the
same.
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
        """Ask for the text, where each viewer asks for its own."""
        return

    def frames(self) -> AsyncIterator[str]:
        """Raw frames as they come."""
        ...

    async def close(self) -> None:
        """Give the connection back."""
        return


@dataclass
class Watched:
    """What all viewers saw together: milliseconds of each token, and how many never came."""

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
        """The 95th percentile, of all that were due: a token that never came is later than every other."""
        return self._quantile(95)

    def _quantile(self, percent: int) -> float:
        missing = [max(GRACE_S * 1000, max(self.delays, default=0.0))] * self.lost
        return quantiles([*self.delays, *missing], n=100, method="inclusive")[percent - 1]


async def watch(
    make: Callable[[], Viewer], viewers: int, tokens: int, publish: Callable[[], Awaitable[None]] | None = None
) -> Watched:
    """Open `viewers`, begin them all, and read `tokens` tokens with each.

    `publish`, where there is one text for all, writes it and returns after its last token. Tokens that have not come
    `GRACE_S` after the last was due are lost.
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
    """Note each token once: later frames may repeat what was sent before."""
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
