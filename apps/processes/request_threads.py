"""Threads of requests. Django starts a thread for each request and sends every middleware to it and back.

Starting a thread, opening its SQLite connection and these ways used more of the processor than saving a draft. Here the threads
and their connections are used again, and a request goes to its thread once.
"""

import contextlib
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, HttpResponseBase

from apps.processes.threads import connections_tidy

#: Idle threads that are kept. More requests at once start more threads, which end with them.
KEPT = 16
_idle: deque[ThreadPoolExecutor] = deque()


class RequestHandler(ASGIHandler):
    """Django's handler with a kept thread for each request, in which all its middleware runs."""

    def load_middleware(self, is_async: bool = False) -> None:
        """Load the middleware as for WSGI."""
        super().load_middleware(is_async=False)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        thread = _idle.pop() if _idle else ThreadPoolExecutor(1, thread_name_prefix="request")
        try:
            async with ThreadSensitiveContext(executor=thread):
                await super().__call__(scope, receive, send)
        finally:
            # After a lost connection the thread may still be busy with the request. A stream has ended its thread.
            with contextlib.suppress(RuntimeError):
                thread.submit(_rest, thread)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        """The response of the whole chain, from the request's thread."""
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)


def _rest(thread: ThreadPoolExecutor) -> None:
    """Called in the thread at the end of a request."""
    connections_tidy()
    if len(_idle) < KEPT:
        _idle.append(thread)
    else:
        thread.shutdown(wait=False)
