"""A limit on a run's concurrent calls that may change while calls wait."""

import asyncio
from collections import deque
from types import TracebackType


class Window:
    """A semaphore whose size can be set at any time: a smaller size lets running calls finish, a larger one admits more.

    Use `async with`, in one event loop. Raises `ValueError` for a size below 1, which would stop the run forever.
    """

    def __init__(self, size: int) -> None:
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.size = size

    @property
    def size(self) -> int:
        return self._size

    @size.setter
    def size(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"a window needs a size of at least 1, not {size}")
        self._size = size
        self._let_in()

    async def __aenter__(self) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._let_in()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._leave()
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        self._inside -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._inside < self._size:
            place = self._waiting.popleft()
            if not place.done():
                self._inside += 1
                place.set_result(None)
