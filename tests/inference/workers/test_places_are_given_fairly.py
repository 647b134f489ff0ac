"""Which call gets the next free slot: urgent calls first, then calls of the run that has the fewest, then the oldest call."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from apps.reasoning.domain.generation import GenerationRequest, Message, Sampling
from workers.slots import FairSlots, tokens_of

pytestmark = pytest.mark.asyncio


def a_call(run: str, number: int = 0, priority: int = 6, tokens: int = 10) -> GenerationRequest:
    return GenerationRequest(
        run=run,
        key=f"call/{number}",
        role="reasoner",
        alias="tested",
        messages=(Message(role="user", content="abc"),),
        sampling=Sampling(max_new_tokens=tokens),
        priority=priority,
    )


class Engine:
    """Holds slots until `end` releases one; records the order in which calls got theirs."""

    def __init__(self, slots: FairSlots) -> None:
        self.slots = slots
        self.order: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._ends: dict[str, asyncio.Event] = {}

    async def ask(self, *calls: GenerationRequest) -> None:
        for call in calls:
            name = f"{call.run}{call.key.removeprefix('call/')}"
            self._ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._hold(name, call))
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self.tasks[name]
        await asyncio.sleep(0)

    async def _hold(self, name: str, call: GenerationRequest) -> None:
        async with self.slots.place(call):
            self.order.append(name)
            await self._ends[name].wait()


async def test_a_run_that_starts_late_gets_every_second_slot() -> None:
    engine = Engine(FairSlots(2))
    await engine.ask(*(a_call("a", number) for number in range(6)))
    await engine.ask(*(a_call("b", number) for number in range(3)))
    for name in ("a0", "a1", "b0", "a2", "b1"):
        await engine.end(name)
    assert engine.order == ["a0", "a1", "b0", "a2", "b1", "a3", "b2"]


async def test_an_urgent_call_overtakes_all_waiting_calls() -> None:
    engine = Engine(FairSlots(1))
    await engine.ask(a_call("batch", 0), a_call("batch", 1), a_call("coach", 0, priority=0))
    await engine.end("batch0")
    assert engine.order == ["batch0", "coach0"]


async def test_urgent_calls_have_one_extra_slot_per_sixteen() -> None:
    engine = Engine(FairSlots(16))
    await engine.ask(*(a_call("batch", number) for number in range(20)), a_call("coach", 0, priority=3))
    assert len(engine.order) == 17
    assert engine.order[-1] == "coach0"
    await engine.ask(a_call("coach", 1, priority=3))
    assert "coach1" not in engine.order


async def test_the_total_tokens_of_running_calls_are_limited() -> None:
    engine = Engine(FairSlots(8, tokens=100))
    await engine.ask(a_call("a", 0, tokens=60), a_call("a", 1, tokens=60), a_call("a", 2, tokens=10))
    assert engine.order == ["a0"], "the small call waits for the one that was submitted before it"
    await engine.end("a0")
    assert engine.order == ["a0", "a1", "a2"]


async def test_a_call_that_never_fits_runs_alone() -> None:
    engine = Engine(FairSlots(8, tokens=100))
    await engine.ask(a_call("a", 0, tokens=500), a_call("b", 0))
    assert engine.order == ["a0"]
    await engine.end("a0")
    assert engine.order == ["a0", "b0"]


async def test_a_call_that_stops_waiting_or_fails_frees_its_slot() -> None:
    slots = FairSlots(1)
    engine = Engine(slots)
    await engine.ask(a_call("a", 0), a_call("a", 1), a_call("b", 0))
    engine.tasks["a1"].cancel()
    await asyncio.sleep(0)
    assert slots.waiting == 1
    engine.tasks["a0"].cancel()
    await asyncio.sleep(0.01)
    assert engine.order == ["a0", "b0"]
    await engine.end("b0")
    with pytest.raises(RuntimeError):
        async with slots.place(a_call("c")):
            raise RuntimeError
    async with AsyncExitStack() as stack, asyncio.timeout(1):
        await stack.enter_async_context(slots.place(a_call("d")))
    assert slots.waiting == 0


async def test_a_call_cancelled_while_it_is_given_a_slot_passes_it_to_the_next() -> None:
    slots = FairSlots(1)
    engine = Engine(slots)
    await engine.ask(a_call("a", 0), a_call("a", 1), a_call("b", 0))
    engine._ends["a0"].set()
    await engine.tasks["a0"]
    engine.tasks["b0"].cancel()
    await asyncio.sleep(0.01)
    assert engine.order == ["a0", "a1"]
    await engine.ask(a_call("c", 0))
    engine.tasks["c0"].cancel()
    await engine.end("a1")
    assert slots.waiting == 0


async def test_the_estimate_of_tokens_is_an_upper_bound() -> None:
    assert tokens_of(a_call("a", tokens=10)) == 11
    assert tokens_of(a_call("a", tokens=10).model_copy(update={"n": 3})) == 31
    assert tokens_of(a_call("a").model_copy(update={"prompt_ids": (1, 2, 3, 4)})) == 14
