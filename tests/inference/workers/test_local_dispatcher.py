"""The dispatcher within one process: limits per alias, streams with offsets, refusals."""

import asyncio

import pytest

from apps.reasoning.domain.errors import BackendRefused, DeadlineExceeded, RequestRejected
from apps.reasoning.domain.generation import Delta, GenerationRequest
from apps.reasoning.inference.local import LocalDispatcher
from apps.reasoning.inference.scripted import Faults, Pace, Reply, ScriptedBackend
from tests.inference.conftest import a_request


async def test_a_request_goes_to_the_backend_of_its_alias() -> None:
    dispatcher = LocalDispatcher({"tested": ScriptedBackend(["From one."]), "other": ScriptedBackend(["From other."])})
    assert (await dispatcher.dispatch(a_request(alias="other"))).text == "From other."
    with pytest.raises(BackendRefused, match=r"no alias third; the known ones are other, tested"):
        await dispatcher.dispatch(a_request(alias="third"))


async def test_concurrent_calls_are_limited_per_alias() -> None:
    backend = ScriptedBackend(lambda _: "word " * 10, pace=Pace(tokens_per_s=500))
    dispatcher = LocalDispatcher({"tested": backend}, concurrency={"tested": 2})
    calls = [asyncio.create_task(dispatcher.dispatch(a_request(str(number)))) for number in range(6)]
    most = 0
    while not all(call.done() for call in calls):
        most = max(most, (await backend.health()).running)
        await asyncio.sleep(0.001)
    assert most == 2


async def test_deltas_arrive_in_order_with_their_offset_in_the_channel() -> None:
    received: list[tuple[int, str, str]] = []

    async def sink(_: GenerationRequest, offset: int, delta: Delta) -> None:
        await asyncio.sleep(0)
        received.append((offset, delta.reasoning, delta.text))

    reply = Reply(text="Yes, it is.", reasoning="Is it so?")
    dispatcher = LocalDispatcher({"tested": ScriptedBackend([reply], pace=Pace(chunk_tokens=2))}, sink)
    final = await dispatcher.dispatch(a_request())
    assert received == [(0, "Is it ", ""), (6, "so?", ""), (0, "", "Yes, "), (5, "", "it is.")]
    assert (final.text, final.reasoning) == (reply.text, reply.reasoning)


async def test_errors_and_deadlines_pass_through_and_free_the_slot() -> None:
    backend = ScriptedBackend({"good": "Good."}, faults=Faults(hang=frozenset({2})))
    dispatcher = LocalDispatcher({"tested": backend}, concurrency={"tested": 1})
    with pytest.raises(RequestRejected):
        await dispatcher.dispatch(a_request("bad"))
    with pytest.raises(DeadlineExceeded):
        await dispatcher.dispatch(a_request("good", deadline_s=0.03))
    assert (await dispatcher.dispatch(a_request("good"))).text == "Good."
