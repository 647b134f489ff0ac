"""Running independent calls at once, so that what one of them raises decides the same however they interleave."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from apps.reasoning.domain.errors import BudgetExhausted

T = TypeVar("T")


async def concurrently(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results in the order of `work`.

    `BudgetExhausted` lets the others finish first, since what they got is paid for, and is raised then. Any other exception
    cancels the others and is raised at once.
    """
    loop = asyncio.get_running_loop()
    tasks = [loop.create_task(_held(item)) for item in work]
    try:
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
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


async def _held(item: Coroutine[Any, Any, T]) -> T | BudgetExhausted:
    try:
        return await item
    except BudgetExhausted as exhausted:
        return exhausted
