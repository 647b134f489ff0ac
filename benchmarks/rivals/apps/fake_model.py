"""The model that every rival plays: tokens on a steady beat, each the moment at which it was due."""

import asyncio
import os
import time
from collections.abc import AsyncIterator

TOKENS = int(os.environ.get("RIVAL_TOKENS", "200"))
TOKENS_PER_S = float(os.environ.get("RIVAL_TOKENS_PER_S", "20"))


async def tokens() -> AsyncIterator[str]:
    """`RIVAL_TOKENS` tokens, `RIVAL_TOKENS_PER_S` of them a second."""
    began = time.time_ns()
    for number in range(TOKENS):
        due = began + int(number * 1e9 / TOKENS_PER_S)
        await asyncio.sleep(max(0.0, (due - time.time_ns()) / 1e9))
        yield f"t{due} "
