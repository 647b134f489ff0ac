"""The fake model of every rival: tokens at a steady rate, each the time at which it was due.

All copies keep the same beat, like one text that all watch. With `RIVAL_BEAT=own` each starts at its own moment, which spreads
the work over time.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator

TOKENS = int(os.environ.get("RIVAL_TOKENS", "200"))
TOKENS_PER_S = float(os.environ.get("RIVAL_TOKENS_PER_S", "20"))
HAS_OWN_BEAT = os.environ.get("RIVAL_BEAT") == "own"


async def tokens() -> AsyncIterator[str]:
    """`RIVAL_TOKENS` tokens, `RIVAL_TOKENS_PER_S` of them a second."""
    beat = int(1e9 / TOKENS_PER_S)
    began = time.time_ns() if HAS_OWN_BEAT else (time.time_ns() // beat + 1) * beat
    for number in range(TOKENS):
        due = began + number * beat
        await asyncio.sleep(max(0.0, (due - time.time_ns()) / 1e9))
        yield f"t{due} "
