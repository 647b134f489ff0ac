"""Database work in a few threads that every event loop of a process shares.

SQLite's connections stay with their threads: to open one, with its settings and functions, costs more than most of what is
asked on it. Those of a pool go back after each use.
"""

import asyncio
import contextvars
import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from asgiref.sync import SyncToAsync
from django.db import connections

P = ParamSpec("P")
R = TypeVar("R")
#: Each may hold a connection with its cache of pages; what is asked takes milliseconds.
THREADS = 8


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run `function` in one of the threads, with the caller's context variables."""
    context = contextvars.copy_context()
    asked = functools.partial(context.run, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads(), _tidily, asked)


def from_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Like `in_thread`, for a thread without an event loop that lives long: it then opens no connection of its own."""
    context = contextvars.copy_context()
    return _threads().submit(_tidily, functools.partial(context.run, function, *args, **kwargs)).result()


def request_thread_release() -> None:
    """End the thread of the present request; a new one starts if the request needs it.

    A stream would otherwise hold an idle thread, with its connection, for hours.
    """
    request = SyncToAsync.thread_sensitive_context.get(None)
    if request and (executor := SyncToAsync.context_to_thread_executor.pop(request, None)):
        executor.submit(connections.close_all)
        executor.shutdown(wait=False)


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, thread_name_prefix="database")


os.register_at_fork(after_in_child=_threads.cache_clear)


def _tidily(asked: Callable[[], R]) -> R:
    try:
        return asked()
    finally:
        connections_tidy()


def connections_tidy() -> None:
    """At the end of work in a thread: close its connections, except a sound one of SQLite."""
    for connection in connections.all(initialized_only=True):
        if connection.vendor != "sqlite" or connection.errors_occurred:
            connection.close()
