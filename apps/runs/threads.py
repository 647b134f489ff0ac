"""Database work in a borrowed thread. The thread's connection must not outlive it: a pool would never get it back."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import connections

P = ParamSpec("P")
R = TypeVar("R")


async def in_thread(function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run `function` in a thread of the event loop's own pool and close what it opened."""

    def and_close() -> R:
        try:
            return function(*args, **kwargs)
        finally:
            connections.close_all()

    return await asyncio.to_thread(and_close)
