"""A worker's host and publisher with a model that writes at a steady rate: `python -m benchmarks.engines.publishing`.

    python -m benchmarks.engines.publishing RUN CALL TOKENS TOKENS_PER_S

It prints `ready`, waits for a line and then writes. Every token is the time at which it was due. The text is handled like that
of every call: workers/host.py collects it, workers/publisher.py publishes it on the run's stream. There is no broker and no
result.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator

import django

from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health, Message, Usage
from apps.reasoning.inference.aliases import parse_aliases

MODELS = '[beat]\nbackend = "scripted"\n[beat.options]\nscript = "worked_example"\n'


class Beat:
    """A backend that writes one call of `tokens` tokens."""

    def __init__(self, tokens: int, tokens_per_s: float) -> None:
        self._tokens, self._tokens_per_s = tokens, tokens_per_s

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`."""
        began, pieces = time.time_ns(), []
        for number in range(self._tokens):
            due = began + int(number * 1e9 / self._tokens_per_s)
            await asyncio.sleep(max(0.0, (due - time.time_ns()) / 1e9))
            pieces.append(f"t{due} ")
            yield Delta(text=pieces[-1], tokens=1)
        yield Final(text="".join(pieces), finish_reason="length", usage=Usage(completion=len(pieces)))

    async def abort(self, call_id: str) -> None:
        """Do nothing."""

    async def health(self) -> Health:
        return Health(state="ready")

    async def close(self) -> None:
        """Do nothing."""


def main(run: str, call: str, tokens: int, tokens_per_s: float) -> None:
    django.setup()
    from workers.host import EngineHost
    from workers.publisher import TokenPublisher

    beat = Beat(tokens, tokens_per_s)
    host = EngineHost(parse_aliases(MODELS), sink=TokenPublisher(), make_backend=lambda _: beat)
    request = GenerationRequest(
        run=run, key=call, role="reasoner", alias="beat", messages=(Message(role="user", content="Count."),)
    )
    print("ready", flush=True)
    sys.stdin.readline()
    host.run(request)
    host.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
