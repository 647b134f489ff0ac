"""The dispatcher of one process: backends by alias in the caller's own event loop. For tests and the command line."""

import asyncio
from collections.abc import Mapping

from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest
from apps.reasoning.inference.streaming import read_to_final
from apps.reasoning.ports import Backend, DeltaSink


class LocalDispatcher:
    """Implements the `Dispatcher` port. `concurrency` limits calls per alias; an alias it does not name has no limit.

    `on_delta` is awaited for each delta, in order; its offset counts characters of the delta's channel (text if the delta has
    text, else reasoning). A delta with both is therefore sent in two pieces, reasoning first.
    """

    def __init__(
        self,
        backends: Mapping[str, Backend],
        on_delta: DeltaSink | None = None,
        concurrency: Mapping[str, int] | None = None,
    ) -> None:
        self._backends = backends
        self._on_delta = on_delta
        self._slots = {alias: asyncio.Semaphore(limit) for alias, limit in (concurrency or {}).items()}

    async def dispatch(self, request: GenerationRequest) -> Final:
        """Run the request to its end. Raises `BackendError`, `BackendRefused` for an unknown alias."""
        backend = self._backends.get(request.alias)
        if backend is None and request.job != "generate":
            raise BackendRefused(f"This process has no {request.alias} for tools; the workers that `make up` starts have one.")
        if backend is None:
            raise BackendRefused(f"There is no alias {request.alias}; the known ones are {', '.join(sorted(self._backends))}.")
        slot = self._slots.get(request.alias)
        if slot is None:
            return await self._run(backend, request)
        async with slot:
            return await self._run(backend, request)

    async def _run(self, backend: Backend, request: GenerationRequest) -> Final:
        if self._on_delta is None:
            return await read_to_final(backend, request)
        deltas: asyncio.Queue[Delta | None] = asyncio.Queue()
        forwarding = asyncio.create_task(self._forward(self._on_delta, request, deltas))
        try:
            return await read_to_final(backend, request, deltas.put_nowait)
        finally:
            deltas.put_nowait(None)
            await forwarding

    async def _forward(self, sink: DeltaSink, request: GenerationRequest, deltas: "asyncio.Queue[Delta | None]") -> None:
        text_at = reasoning_at = 0
        while (delta := await deltas.get()) is not None:
            both = bool(delta.text and delta.reasoning)
            if delta.reasoning:
                await sink(request, reasoning_at, Delta(reasoning=delta.reasoning) if both else delta)
                reasoning_at += len(delta.reasoning)
            if delta.text:
                await sink(request, text_at, Delta(text=delta.text, tokens=delta.tokens) if both else delta)
                text_at += len(delta.text)
