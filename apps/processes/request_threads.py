"""Threads of requests. Django starts a thread for each request and sends every middleware to it and back.

Starting a thread, opening its SQLite connection and these ways used more of the processor than saving a draft. Here the threads
and their connections are used again, and a request goes to its thread once. Few requests begin at once: if hundreds of threads
share the processor, saving a draft costs twice as much.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase

from apps.processes.threads import connections_tidy

#: Idle threads that are kept. More requests at once start more threads, which end with them.
KEPT = 16
#: Requests that run at once. Further ones wait until one has ended or has run for `SLOW_S` seconds.
AT_ONCE = 4
SLOW_S = 0.3
_idle: deque[ThreadPoolExecutor] = deque()
_turn: ContextVar["_Turn"] = ContextVar("turn")


class RequestHandler(ASGIHandler):
    """Django's handler with a kept thread for each request, in which all its middleware runs."""

    def __init__(self) -> None:
        super().__init__()
        self._free = asyncio.Semaphore(AT_ONCE)

    def load_middleware(self, is_async: bool = False) -> None:
        """Load the middleware as for WSGI."""
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        thread, turn = _Thread(), _Turn(self._free)
        _turn.set(turn)
        try:
            async with ThreadSensitiveContext(executor=thread):
                await super().__call__(scope, receive, send)
        finally:
            turn.end()
            thread.rest()

    async def read_body(self, receive: Any) -> Any:
        """The body of the request, whose turn comes once it is complete: a slow phone takes no place."""
        body = await super().read_body(receive)
        await _turn.get().begin()
        return body

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """The response of the whole chain, from the request's thread."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


class _Turn:
    """One of the places of requests that run at once."""

    def __init__(self, free: asyncio.Semaphore) -> None:
        self._free = free
        self._until: asyncio.TimerHandle | None = None

    async def begin(self) -> None:
        """Wait for a place."""
        await self._free.acquire()
        self._until = asyncio.get_running_loop().call_later(SLOW_S, self.end)

    def end(self) -> None:
        """Leave the place; without one, nothing happens."""
        if self._until is not None:
            self._until.cancel()
            self._until = None
            self._free.release()


class _Thread(Executor):
    """The thread of one request, taken from the idle ones when it is first needed."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Run `fn` in the thread."""
        if self._pool is None:
            self._pool = _idle.pop() if _idle else ThreadPoolExecutor(1, thread_name_prefix="request")
        return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the thread."""
        if self._pool is not None:
            self._pool.shutdown(wait, cancel_futures=cancel_futures)

    def rest(self) -> None:
        """Return the thread once it has nothing to do: after a lost connection it may still be busy with the request."""
        if self._pool is not None:
            with contextlib.suppress(RuntimeError):  # A stream has ended its thread.
                self._pool.submit(_rest, self._pool)


def _rest(thread: ThreadPoolExecutor) -> None:
    """Called in the thread at the end of a request."""
    connections_tidy()
    if len(_idle) < KEPT:
        _idle.append(thread)
    else:
        thread.shutdown(wait=False)
