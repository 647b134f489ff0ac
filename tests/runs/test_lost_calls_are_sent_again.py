"""The reaper: which calls are lost, and which only wait in a queue that is never empty."""

import asyncio
import json
import time
from collections.abc import Sequence
from typing import Any

import pytest
from pytest_django import Settings

from apps.processes import streams
from apps.processes.streams import SENT_AT, broker_time, fingerprint_of, finished_key, heartbeat_publish, results_key
from apps.reasoning.domain.errors import BackendRefused, EngineLost
from apps.reasoning.domain.generation import Final, GenerationRequest, Message
from apps.runs.calls import sending
from apps.runs.calls.dispatch import CeleryDispatcher

pytestmark = pytest.mark.asyncio
QUEUE = "inference.tested"
REQUEST = GenerationRequest(run="r", key="call", role="reasoner", alias="tested", messages=(Message(role="user", content="?"),))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, settings: Settings, valkey: Any) -> list[GenerationRequest]:
    """What was sent; the broker loses every message."""
    settings.REDISPATCH_GRACE_S = 0.5
    found: list[GenerationRequest] = []

    def lose(calls: Sequence[tuple[str, str]], queue: str, priority: int) -> None:
        found.extend(GenerationRequest.model_validate_json(request) for request, _ in calls)

    monkeypatch.setattr(sending, "send_now", lose)
    return found


def put_message(valkey: Any, sent_at: float) -> None:
    """A message of another run's call, at the end of the queue where it is read next."""
    valkey.rpush(f"{QUEUE}\x06\x166", json.dumps({"headers": {SENT_AT: str(sent_at)}}))


async def dispatched(sent: list[GenerationRequest], until: int, within_s: float) -> int:
    """Dispatch one call and wait until it was sent `until` times or the time is over; returns how often."""
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        waiting = asyncio.create_task(dispatcher.dispatch(REQUEST))
        end = time.monotonic() + within_s
        while len(sent) < until and time.monotonic() < end:
            await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    return len(sent)


async def test_a_call_whose_message_has_left_the_queue_is_sent_again_though_newer_ones_wait(
    sent: list[GenerationRequest], valkey: Any
) -> None:
    put_message(valkey, time.time() + 60)
    assert await dispatched(sent, until=2, within_s=8) == 2
    assert [request.attempt for request in sent] == [1, 2]


async def test_a_call_behind_older_messages_is_waited_for(sent: list[GenerationRequest], valkey: Any) -> None:
    put_message(valkey, time.time() - 60)
    assert await dispatched(sent, until=2, within_s=3) == 1


async def test_a_call_that_a_worker_has_just_read_is_not_sent_again(sent: list[GenerationRequest], valkey: Any) -> None:
    """It waited long, the queue is empty, and the worker's next heartbeat, which names it, is still to come."""
    active = [{"run": "r", "key": "call", "attempt": 1, "fingerprint": fingerprint_of(REQUEST)}]
    beat: Any = {"worker": "w", "aliases": ["tested"], "active": active, "health": {}}
    asyncio.get_running_loop().call_later(1.6, heartbeat_publish, valkey, beat, 60_000)
    assert await dispatched(sent, until=2, within_s=5) == 1


async def test_a_call_that_a_worker_holds_is_waited_for(sent: list[GenerationRequest], valkey: Any) -> None:
    active = [{"run": "r", "key": "call", "attempt": 1, "fingerprint": fingerprint_of(REQUEST)}]
    beat: Any = {"worker": "w", "aliases": ["tested"], "active": active, "health": {}}
    heartbeat_publish(valkey, beat, 60_000)
    assert await dispatched(sent, until=1, within_s=3) == 0, "a worker has it already: it is not sent at all"


async def test_a_call_is_not_lost_because_the_broker_was_away(
    sent: list[GenerationRequest], valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heartbeats have run out when the reaper can look again; the worker's next one comes a moment later."""
    active = [{"run": "r", "key": "call", "attempt": 1, "fingerprint": fingerprint_of(REQUEST)}]
    beat: Any = {"worker": "w", "aliases": ["tested"], "active": active, "health": {}}
    heartbeat_publish(valkey, beat, 60_000)
    looked = streams.heartbeats
    began, looks = time.monotonic(), 0

    def away(client: Any) -> Any:
        nonlocal looks
        if 0.5 < time.monotonic() - began < 5:
            raise ConnectionError("the broker is away")
        looks += time.monotonic() - began >= 5
        return [] if looks == 1 else looked(client)

    monkeypatch.setattr(streams, "heartbeats", away)
    assert await dispatched(sent, until=1, within_s=8) == 0
    assert looks > 1


async def test_an_untaken_result_is_used_and_the_call_not_sent(sent: list[GenerationRequest], valkey: Any) -> None:
    final = Final(text="from before", finish_reason="stop")
    fields = {"key": "call", "fp": fingerprint_of(REQUEST), "attempt": "1", "final": final.model_dump_json()}
    valkey.xadd(results_key("r"), fields)
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        assert (await dispatcher.dispatch(REQUEST)).text == "from before"
    assert sent == []


async def test_an_untaken_answer_outlives_the_failure_of_a_later_attempt(sent: list[GenerationRequest], valkey: Any) -> None:
    """Two workers had the call while the run had no owner: one answered, the other's engine died."""
    final = Final(text="from before", finish_reason="stop").model_dump_json()
    failed = {"error": "EngineLost", "message": "The engine died."}
    for entry in ({"attempt": "1", "final": final}, {"attempt": "2", **failed}):
        valkey.xadd(results_key("r"), {"key": "call", "fp": fingerprint_of(REQUEST), **entry})
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        assert (await dispatcher.dispatch(REQUEST)).text == "from before"
    assert sent == []
    assert valkey.xlen(results_key("r")) == 1, "the failure is gone; the answer stays until the journal has it"


async def test_a_result_that_arrives_while_its_call_is_cancelled_stays_for_the_next_owner(
    sent: list[GenerationRequest], valkey: Any
) -> None:
    """The process is stopping: the call's future is cancelled already, but its task has not run since."""
    final = Final(text="in the last moment", finish_reason="stop").model_dump_json()
    fields = {"key": "call", "fp": fingerprint_of(REQUEST), "attempt": "1", "final": final}
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        waiting = asyncio.create_task(dispatcher.dispatch(REQUEST))
        await asyncio.sleep(0.5)
        dispatcher._tasks[0].cancel()  # The reader, so that the result arrives exactly here.
        await asyncio.sleep(0)
        waiting.cancel()
        dispatcher._take(valkey.xadd(results_key("r"), fields), fields)
        await asyncio.gather(waiting, return_exceptions=True)
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as next_owner:
        assert (await next_owner.dispatch(REQUEST)).text == "in the last moment"
    assert len(sent) == 1


async def test_an_untaken_failure_is_replaced_by_an_answer(sent: list[GenerationRequest], valkey: Any) -> None:
    final = Final(text="after all", finish_reason="stop").model_dump_json()
    failed = {"error": "EngineLost", "message": "The engine died."}
    for entry in ({"attempt": "1", **failed}, {"attempt": "2", "final": final}):
        valkey.xadd(results_key("r"), {"key": "call", "fp": fingerprint_of(REQUEST), **entry})
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        assert (await dispatcher.dispatch(REQUEST)).text == "after all"
    assert sent == []


async def test_an_answer_to_another_request_of_that_name_is_not_taken(sent: list[GenerationRequest], valkey: Any) -> None:
    final = Final(text="to something else", finish_reason="stop").model_dump_json()
    valkey.xadd(results_key("r"), {"key": "call", "fp": "another", "attempt": "1", "final": final})
    assert await dispatched(sent, until=1, within_s=5) == 1
    assert valkey.xlen(results_key("r")) == 0


async def test_calls_that_are_lost_together_are_sent_again_together(
    sent: list[GenerationRequest], valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that dies loses all that it held; each may wait a while for company on its way."""
    send, under_way, most = sending.CallSender.send, 0, 0

    async def slow(self: Any, request: GenerationRequest, fingerprint: str) -> None:
        nonlocal under_way, most
        under_way += request.attempt > 1
        most = max(most, under_way)
        await asyncio.sleep(0.3 if request.attempt > 1 else 0)
        under_way -= request.attempt > 1
        await send(self, request, fingerprint)

    monkeypatch.setattr(sending.CallSender, "send", slow)
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        requests = [REQUEST.model_copy(update={"key": f"call/{number}"}) for number in range(8)]
        waiting = [asyncio.create_task(dispatcher.dispatch(request)) for request in requests]
        end = time.monotonic() + 10
        while len(sent) < 16 and time.monotonic() < end:
            await asyncio.sleep(0.05)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    assert len(sent) >= 16
    assert most == 8


async def test_a_call_that_a_stopped_worker_gave_back_is_sent_again_at_once_however_often(
    sent: list[GenerationRequest], valkey: Any, settings: Settings
) -> None:
    """Workers that are replaced one by one do not end a long call, as engines that die under it do."""
    settings.REDISPATCH_GRACE_S = 60
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        waiting = asyncio.create_task(dispatcher.dispatch(REQUEST))
        end = time.monotonic() + 30
        while len(sent) < 7 and time.monotonic() < end:
            count = len(sent)
            if count:
                entry = {"key": "call", "fp": fingerprint_of(REQUEST), "attempt": str(sent[-1].attempt), "returned": "1"}
                valkey.xadd(results_key("r"), entry)
            while len(sent) == count and time.monotonic() < end:
                await asyncio.sleep(0.05)
        assert not waiting.done()
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    assert [request.attempt for request in sent] == list(range(1, 8))


async def test_an_error_names_the_last_attempt_that_was_sent(sent: list[GenerationRequest], valkey: Any) -> None:
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        waiting = asyncio.create_task(dispatcher.dispatch(REQUEST))
        while len(sent) < 2:
            await asyncio.sleep(0.05)
        failed = {"attempt": "2", "error": "EngineLost", "message": "The engine died."}
        valkey.xadd(results_key("r"), {"key": "call", "fp": fingerprint_of(REQUEST), **failed})
        with pytest.raises(EngineLost) as caught:
            await waiting
    assert caught.value.attempt == 2


async def test_a_mark_without_its_result_does_not_keep_a_call_from_being_generated(
    sent: list[GenerationRequest], valkey: Any
) -> None:
    """A worker drops a call that is marked as answered; after a power failure the mark may be all that is left."""
    mark = finished_key("r", fingerprint_of(REQUEST))
    valkey.set(mark, "1")
    assert await dispatched(sent, until=3, within_s=12) == 3
    assert not valkey.exists(mark)


async def test_clocks_of_machines_do_not_matter(valkey: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = broker_time(valkey)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    assert before <= broker_time(valkey) < before + 60


async def test_an_unreadable_result_stops_its_run_with_a_reason_and_others_still_arrive(
    sent: list[GenerationRequest], valkey: Any
) -> None:
    other = REQUEST.model_copy(update={"key": "other"})
    final = Final(text="good", finish_reason="stop").model_dump_json()
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        waiting = [asyncio.create_task(dispatcher.dispatch(request)) for request in (REQUEST, other)]
        while len(sent) < 2:
            await asyncio.sleep(0.05)
        for request, final_json in ((REQUEST, '{"text": 1}'), (other, final[:-1] + ',"said_by_a_newer_worker":1}')):
            entry = {"key": request.key, "fp": fingerprint_of(request), "attempt": "1", "final": final_json}
            valkey.xadd(results_key("r"), entry)
        with pytest.raises(BackendRefused, match="another version of Lemmascope"):
            await waiting[0]
        assert (await waiting[1]).text == "good"


async def test_what_an_overtaken_attempt_failed_of_does_not_end_the_one_that_is_under_way(
    sent: list[GenerationRequest], valkey: Any
) -> None:
    """The first attempt was given up as lost, and its worker reports a failure after all."""
    final = Final(text="of the second attempt", finish_reason="stop").model_dump_json()
    late = {"attempt": "1", "error": "EngineLost", "message": "The engine died."}
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        waiting = asyncio.create_task(dispatcher.dispatch(REQUEST))
        while len(sent) < 2:
            await asyncio.sleep(0.05)
        for entry in (late, {"attempt": "2", "final": final}):
            valkey.xadd(results_key("r"), {"key": "call", "fp": fingerprint_of(REQUEST), **entry})
        assert (await waiting).text == "of the second attempt"
    assert valkey.xlen(results_key("r")) == 1, "the failure is gone; the answer stays until the journal has it"


async def test_what_broke_off_in_the_middle_of_an_answer_is_not_asked_for_again(
    sent: list[GenerationRequest], valkey: Any
) -> None:
    """The worker says so; without its word an engine's loss is asked again."""
    async with CeleryDispatcher("r", queues={"tested": QUEUE}, is_recorded=lambda _: False) as dispatcher:
        for fields, expected in (({"retryable": "0"}, False), ({"retryable": "1"}, True), ({}, True)):
            waiting = asyncio.create_task(dispatcher.dispatch(REQUEST))
            entry = {
                "key": "call",
                "fp": fingerprint_of(REQUEST),
                "attempt": "1",
                "error": "EngineLost",
                "message": "It broke off.",
            }
            await asyncio.sleep(0)
            valkey.xadd(results_key("r"), {**entry, **fields})
            with pytest.raises(EngineLost, match="It broke off") as caught:
                await waiting
            assert caught.value.retryable is expected
