"""How many calls of a run are under way at once, and what happens when that number changes."""

import asyncio

import pytest

from apps.reasoning.scaffolds.running.window import Window

pytestmark = pytest.mark.asyncio


class Calls:
    """Calls that stay in the window until they are released."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self.inside: set[int] = set()
        self.tasks: list[asyncio.Task[None]] = []
        self._leave: list[asyncio.Event] = []

    async def ask(self, number: int) -> None:
        for _ in range(number):
            self._leave.append(asyncio.Event())
            self.tasks.append(asyncio.create_task(self._stay(len(self._leave) - 1)))
        await asyncio.sleep(0.01)

    async def end(self, number: int) -> None:
        self._leave[number].set()
        await asyncio.sleep(0.01)

    async def _stay(self, number: int) -> None:
        async with self._window:
            self.inside.add(number)
            await self._leave[number].wait()
            self.inside.discard(number)


async def test_no_more_are_inside_than_fit_and_they_enter_in_order() -> None:
    calls = Calls(Window(2))
    await calls.ask(4)
    assert calls.inside == {0, 1}
    await calls.end(1)
    assert calls.inside == {0, 2}


async def test_a_larger_window_lets_waiting_calls_in_at_once() -> None:
    window = Window(1)
    calls = Calls(window)
    await calls.ask(4)
    window.size = 3
    await asyncio.sleep(0.01)
    assert calls.inside == {0, 1, 2}


async def test_a_smaller_window_lets_running_calls_end_first() -> None:
    window = Window(3)
    calls = Calls(window)
    await calls.ask(4)
    window.size = 1
    await calls.end(0)
    await calls.end(1)
    assert calls.inside == {2}
    await calls.end(2)
    assert calls.inside == {3}


async def test_a_call_that_stops_waiting_takes_no_room() -> None:
    calls = Calls(Window(1))
    await calls.ask(3)
    calls.tasks[1].cancel()
    await calls.end(0)
    assert calls.inside == {2}


async def test_a_window_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="a size of at least 1"):
        Window(0)
