"""Answers of the journal's writer thread to waiting event loops."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from typing import Protocol

logger = logging.getLogger(__name__)


class Awaited(Protocol):
    """An appended item, with the future that waits until it is durable."""

    done: "asyncio.Future[None] | None"


def answer(batch: Iterable[Awaited], error: Exception | None) -> None:
    """Settle the futures of `batch`, with `error` if its items could not be written."""
    by_loop: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for item in batch:
        if item.done is not None:
            by_loop.setdefault(item.done.get_loop(), []).append(item.done)
    for loop, futures in by_loop.items():
        try:
            loop.call_soon_threadsafe(_settle, futures, error)
        except RuntimeError:  # The run was stopped, and its loop is closed.
            logger.debug("journal: a waiting loop is gone")


def _settle(futures: Sequence["asyncio.Future[None]"], error: Exception | None) -> None:
    for future in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
