"""An inference worker as it is, with an engine whose every call takes a tenth of a second.

celery -A tests.flows.short_calls worker -P threads -c 8 -Q inference.short
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from celery.signals import worker_init

from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health, Usage
from apps.reasoning.inference.aliases import parse_aliases
from workers import worker
from workers.worker import app

TAKES_S = 0.1
PLACES = 4
ALIASES = parse_aliases(f'[short]\nbackend = "scripted"\nconcurrency = {PLACES}\noptions.script = "none"\n')


class ShortEngine:
    """A `Backend` of calls that take `TAKES_S`."""

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        """See `Backend.generate`."""
        await asyncio.sleep(TAKES_S)
        yield Final(text=request.key, finish_reason="stop", usage=Usage(completion=1))

    async def abort(self, call_id: str) -> None:
        """A call is short."""

    async def health(self) -> Health:
        return Health(state="ready")

    async def close(self) -> None:
        """Holds nothing."""


def _start(**_: Any) -> None:
    worker.serve(worker.Worker(make_backend=lambda _: ShortEngine(), aliases=ALIASES))


worker_init.disconnect(worker.start)
worker_init.connect(_start)

__all__ = ["app"]
