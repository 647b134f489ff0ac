"""How calls get into messages: alone where a model is slow, together where answers come fast, urgent ones first."""

import asyncio
from collections.abc import Sequence

import pytest

from apps.reasoning.domain.generation import GenerationRequest, Message
from apps.runs.calls import sending
from apps.runs.calls.posting import MOST_CALLS, Post
from apps.runs.calls.sending import CallSender

pytestmark = pytest.mark.asyncio
Sent = list[tuple[list[str], str, int]]


def a_call(number: int, *, alias: str = "fast", priority: int = 6) -> GenerationRequest:
    messages = (Message(role="user", content="?"),)
    return GenerationRequest(run="r", key=str(number), role="reasoner", alias=alias, messages=messages, priority=priority)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What went to the broker: keys of a message's calls, its queue and priority."""
    messages: Sent = []

    def note(calls: Sequence[tuple[str, str]], queue: str, priority: int) -> None:
        keys = [GenerationRequest.model_validate_json(request).key for request, _ in calls]
        messages.append((keys, queue, priority))

    monkeypatch.setattr(sending, "send_now", note)
    return messages


QUEUES = {"fast": "inference.fast", "other": "inference.other"}


@pytest.fixture
def post(sent: Sent) -> Post:
    return Post(lambda calls, queue, priority: sending.send_now(calls, queue, priority))


@pytest.fixture
def sender(post: Post) -> CallSender:
    return CallSender(QUEUES, post)


def answers_came(sender: CallSender, took_s: float = 0.01) -> None:
    for _ in range(64):
        sender.answered("fast", took_s)


async def send(sender: CallSender, *calls: GenerationRequest) -> None:
    await asyncio.gather(*(sender.send(call, "fp") for call in calls))


async def test_a_call_has_a_message_of_its_own_while_no_answers_have_come(sender: CallSender, sent: Sent) -> None:
    await send(sender, *map(a_call, range(3)))
    assert [keys for keys, _, _ in sent] == [["0"], ["1"], ["2"]]


async def test_calls_share_messages_where_many_answers_came_lately(sender: CallSender, sent: Sent) -> None:
    answers_came(sender)
    await send(sender, *map(a_call, range(2 * MOST_CALLS + 4)))
    assert [len(keys) for keys, _, _ in sent] == [MOST_CALLS, MOST_CALLS, 4]
    assert [key for keys, _, _ in sent for key in keys] == [str(number) for number in range(2 * MOST_CALLS + 4)]


async def test_a_message_has_one_queue_and_one_priority_and_urgent_ones_go_first(sender: CallSender, sent: Sent) -> None:
    answers_came(sender)
    await send(sender, a_call(0), a_call(1, alias="other"), a_call(2, priority=0), a_call(3))
    assert sent == [(["2"], "inference.fast", 0), (["0", "3"], "inference.fast", 6), (["1"], "inference.other", 6)]


async def test_calls_of_several_runs_share_a_message(post: Post, sent: Sent) -> None:
    one, other = CallSender(QUEUES, post), CallSender(QUEUES, post)
    answers_came(one)
    await asyncio.gather(*(sender.send(a_call(number), "fp") for number, sender in enumerate((one, other, one))))
    assert [keys for keys, _, _ in sent] == [["0", "1", "2"]]


async def test_a_run_that_ended_sends_nothing_more_and_holds_no_other_up(post: Post, sent: Sent) -> None:
    one, other = CallSender(QUEUES, post), CallSender(QUEUES, post)
    answers_came(one)
    waiting = asyncio.create_task(one.send(a_call(0), "fp"))
    await asyncio.sleep(0)
    one.close()
    await send(other, a_call(1))
    assert [keys for keys, _, _ in sent] == [["1"]]
    waiting.cancel()


async def test_a_broker_that_is_away_is_asked_again(sender: CallSender, sent: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    working, refusals = sending.send_now, iter([ConnectionError("no broker")])

    def refuse_once(calls: Sequence[tuple[str, str]], queue: str, priority: int) -> None:
        if error := next(refusals, None):
            raise error
        working(calls, queue, priority)

    monkeypatch.setattr(sending, "send_now", refuse_once)
    await send(sender, a_call(0))
    assert [keys for keys, _, _ in sent] == [["0"]]


async def test_an_abandoned_call_is_not_sent(sender: CallSender, sent: Sent) -> None:
    answers_came(sender)
    waiting = asyncio.create_task(sender.send(a_call(0), "fp"))
    await asyncio.sleep(0)
    waiting.cancel()
    await send(sender, a_call(1))
    assert [keys for keys, _, _ in sent] == [["1"]]


@pytest.mark.parametrize(("took_s", "waits_s"), [(0.001, 0.02), (0.5, 0.05), (90.0, 0.1)])
async def test_answers_are_read_together_for_a_part_of_what_a_call_takes(
    sender: CallSender, took_s: float, waits_s: float
) -> None:
    answers_came(sender, took_s)
    assert sender.read_wait_s == pytest.approx(waits_s)


async def test_an_answer_that_comes_alone_is_read_at_once(sender: CallSender) -> None:
    sender.answered("fast", 90.0)
    assert sender.read_wait_s == 0
