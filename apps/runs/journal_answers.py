"""How the journal's writer, a thread, tells the event loops that wait for it."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

logger = logging.getLogger(__name__)


class Awaited(Protocol):
    """Something appended, and who waits until it is durable."""

    done: "asyncio.Future[None] | None"


def answer(batch: Iterable[Awaited], error: Exception | None) -> None:
    """Settle what waits for the items of `batch`, with `error` where they could not be written."""
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for item in batch:
        if item.done is not None:
            by_loop.setdefault(item.done.get_loop(), []).append(item.done)
    for loop, futures in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, futures, error)
        except RuntimeError:  # The loop of a run that was stopped is closed; nobody waits any more.
            logger.debug("journal: a waiting loop is gone")


def _settle(futures: Sequence["asyncio.Future[None]"], error: Exception | None) -> None:
    for future in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
