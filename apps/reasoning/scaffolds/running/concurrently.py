"""Concurrent independent calls, whose exceptions have the same effect in every interleaving."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from apps.reasoning.domain.errors import BudgetExhausted

T = TypeVar("T")


async def concurrently(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run `work` concurrently and return the results in its order.

    `BudgetExhausted` is raised after the others have finished, because their calls are paid for. Any other exception cancels
    the others and is raised immediately.
    """
    loop = asyncio.get_running_loop()
    together = _Together(loop.create_future())
    tasks = [loop.create_task(together.held(item)) for item in work]
    try:
        if tasks:
            together.running = len(tasks)
            await together.ended
        results = [task.result() for task in tasks if task.done()]
    finally:
        still_open = [task for task in tasks if not task.done()]
        for task in still_open:
            task.cancel()
        if still_open:
            await asyncio.gather(*still_open, return_exceptions=True)
    for result in results:
        if isinstance(result, BudgetExhausted):
            raise result
    return [result for result in results if not isinstance(result, BudgetExhausted)]


class _Together:
    """Signal when all have ended or one has failed. `asyncio.wait` adds a callback per task, the most expensive part of a
    replay, which never waits."""

    def __init__(self, ended: asyncio.Future[None]) -> None:
        self.ended = ended
        self.running = 0

    async def held(self, item: Coroutine[Any, Any, T]) -> T | BudgetExhausted:
        failed = True
        try:
            result = await item
            failed = False
            return result
        except BudgetExhausted as exhausted:
            failed = False
            return exhausted
        finally:
            self.running -= 1
            if (failed or not self.running) and not self.ended.done():
                self.ended.set_result(None)
