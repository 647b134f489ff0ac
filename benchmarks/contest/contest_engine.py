"""The fake engine of the contest: answers of contest_texts.py after log-normal waits, streamed in a few pieces."""

import asyncio
import math
import os
import random
import time
from collections.abc import AsyncIterator

from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health, Usage
from benchmarks.contest.contest_texts import prose, reply

LATENCY_S = "CONTEST_LATENCY_S"
"""Environment variable: the mean time of one answer."""
SIGMA = 0.6
PIECES = 4
FIRST_SHARE = 0.2
CHARACTERS_A_TOKEN = 4


class ContestEngine:
    """A `Backend` of any concurrency. The wait of a call depends only on its key and seed, so all runs have the same waits."""

    def __init__(self, latency_s: float) -> None:
        self._location = math.log(latency_s) - SIGMA**2 / 2
        self._running = 0
        prose("", 1)  # Generate the text that all answers are cut from now, not in the first call.

    @classmethod
    def from_environment(cls) -> "ContestEngine":
        return cls(float(os.environ[LATENCY_S]))

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`: the first piece after a fifth of the time, the rest evenly spaced."""
        self._running += 1
        try:
            began, answer = time.monotonic(), reply(request)
            takes = random.Random(f"{request.key}#{request.seed}").lognormvariate(self._location, SIGMA)
            size = -(-len(answer.reasoning) // (PIECES - 1))
            for number in range(PIECES):
                due = began + takes * (FIRST_SHARE + (1 - FIRST_SHARE) * number / (PIECES - 1))
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                if number < PIECES - 1:
                    piece = answer.reasoning[number * size : (number + 1) * size]
                    yield Delta(reasoning=piece, tokens=len(piece) // CHARACTERS_A_TOKEN)
                else:
                    yield Delta(text=answer.text, tokens=len(answer.text) // CHARACTERS_A_TOKEN)
            prompt = sum(len(message.content) for message in request.messages) // CHARACTERS_A_TOKEN
            thought = len(answer.reasoning) // CHARACTERS_A_TOKEN
            written = thought + len(answer.text) // CHARACTERS_A_TOKEN
            yield Final(
                text=answer.text,
                reasoning=answer.reasoning,
                finish_reason="stop",
                usage=Usage(prompt=prompt, completion=written, reasoning=thought),
                ttft_s=takes * FIRST_SHARE,
                duration_s=time.monotonic() - began,
                model_revision="contest",
            )
        finally:
            self._running -= 1

    async def abort(self, call_id: str) -> None:
        """Do nothing: an answer is short, and the host stops reading it."""

    async def health(self) -> Health:
        return Health(state="ready", running=self._running)

    async def close(self) -> None:
        """Do nothing."""
