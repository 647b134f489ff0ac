"""Reading a backend's stream to its end: deadline, offsets, and the promise that an abandoned stream stops the engine."""

import asyncio
from collections.abc import AsyncIterator, Callable

from apps.reasoning.domain.errors import DeadlineExceeded, EngineLost
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest
from apps.reasoning.ports import Backend


async def read_to_final(backend: Backend, request: GenerationRequest, on_delta: Callable[[Delta], None] | None = None) -> Final:
    """Run `request` on `backend`; returns its `Final`.

    `on_delta` is called in the loop for every delta and must not block. Raises `BackendError`; `DeadlineExceeded` after
    `request.deadline_s` seconds. However it ends, the stream is closed, so the engine no longer works on it.
    """
    stream = backend.generate(request)
    try:
        async with asyncio.timeout(request.deadline_s) as limit:
            async for item in stream:
                if isinstance(item, Final):
                    return item
                if on_delta is not None:
                    on_delta(item)
    except TimeoutError as error:
        if limit.expired():
            raise DeadlineExceeded(f"The call took longer than {request.deadline_s:g} s and was stopped.") from error
        raise
    finally:
        await close_stream(stream)
    raise EngineLost("The stream ended without a result.")


async def close_stream(stream: AsyncIterator[Delta | Final]) -> None:
    """Close an asynchronous generator; other iterators have nothing to close."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        await aclose()
