"""Scheduling of one engine's places: urgent calls first, then evenly over the waiting runs."""

import asyncio
import contextlib
import itertools
from collections import Counter, deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from apps.reasoning.domain.generation import GenerationRequest

#: A person waits for calls with this priority number or a lower one.
URGENT = 3
_CHARACTERS_A_TOKEN = 3
#: More than model servers use for a page. Only the engine knows the real number.
_PICTURE_TOKENS = 4_096


def tokens_of(request: GenerationRequest) -> int:
    """Upper estimate of a call's tokens: prompt characters / 3, a constant for each picture, and its limit of new tokens."""
    prompt = len(request.prompt_ids) or sum(len(message.content) for message in request.messages) // _CHARACTERS_A_TOKEN
    return prompt + _PICTURE_TOKENS * len(request.pictures) + request.n * request.sampling.max_new_tokens


def spare_places(capacity: int) -> int:
    """Extra places for urgent calls on an engine with `capacity` places. The engine must allow for them."""
    return capacity // 16


@dataclass(eq=False)
class _Waiter:
    request: GenerationRequest
    order: int
    tokens: int
    granted: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class FairSlots:
    """`capacity` calls at a time, plus one place in sixteen for urgent calls. Used from one event loop.

    The next call has the lowest priority number; among equals, its run has the fewest calls running here; among those, it is
    the oldest. `tokens` limits the estimated tokens of all running calls (0: no limit); a call above the limit runs alone. A
    call that does not fit yet blocks smaller ones of the same urgency, so they cannot starve it.
    """

    def __init__(self, capacity: int, *, tokens: int = 0) -> None:
        self._capacity = capacity
        self._spare = spare_places(capacity)
        self._tokens = tokens
        self._waiting: dict[tuple[int, str], deque[_Waiter]] = {}
        self._running = 0
        self._running_tokens = 0
        self._of_run: Counter[str] = Counter()
        self._orders = itertools.count()

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    @contextlib.asynccontextmanager
    async def place(self, request: GenerationRequest) -> AsyncIterator[None]:
        """Wait for a place and keep it for the block."""
        waiter = _Waiter(request, next(self._orders), tokens_of(request))
        key = (request.priority, request.run)
        self._waiting.setdefault(key, deque()).append(waiter)
        self._grant()
        try:
            await waiter.granted
        except asyncio.CancelledError:
            if waiter.granted.done() and not waiter.granted.cancelled():
                self._release(waiter)
            else:
                self._forget(key, waiter)
                self._grant()
            raise
        try:
            yield
        finally:
            self._release(waiter)

    def _release(self, waiter: _Waiter) -> None:
        self._running -= 1
        self._running_tokens -= waiter.tokens
        self._of_run[waiter.request.run] -= 1
        if not self._of_run[waiter.request.run]:
            del self._of_run[waiter.request.run]
        self._grant()

    def _grant(self) -> None:
        while self._waiting:
            key = min(self._waiting, key=self._rank)
            waiter = self._waiting[key][0]
            if waiter.granted.cancelled():  # Its task has not handled the cancellation yet.
                self._forget(key, waiter)
                continue
            if not self._fits(waiter):
                return
            self._forget(key, waiter)
            self._running += 1
            self._running_tokens += waiter.tokens
            self._of_run[waiter.request.run] += 1
            waiter.granted.set_result(None)

    def _rank(self, key: tuple[int, str]) -> tuple[int, int, int]:
        priority, run = key
        return priority, self._of_run.get(run, 0), self._waiting[key][0].order

    def _fits(self, waiter: _Waiter) -> bool:
        places = self._capacity + (self._spare if waiter.request.priority <= URGENT else 0)
        fits_memory = not self._tokens or not self._running or self._running_tokens + waiter.tokens <= self._tokens
        return self._running < places and fits_memory

    def _forget(self, key: tuple[int, str], waiter: _Waiter) -> None:
        waiting = self._waiting.get(key)
        if waiting and waiter in waiting:
            waiting.remove(waiter)
            if not waiting:
                del self._waiting[key]
