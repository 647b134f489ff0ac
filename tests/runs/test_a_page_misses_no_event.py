"""The run socket: who may open it, what a late page gets, and that nothing is missing or doubled after a break."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import redis
from channels.db import database_sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from apps.accounts.models import User
from apps.processes.streams import buffer_key, events_key, tokens_key
from apps.runs.live.tail import TOKEN_BYTES_PER_SOCKET, Subscription, announce_events, hub
from apps.runs.models import Run, RunEvent
from apps.runs.selectors import event_row
from tests.runs.factory import make_run
from tests.sockets import RunSocket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
async def _hub_is_closed() -> AsyncIterator[None]:
    yield
    await hub().close()


def add_events(run: Run, count: int, client: "redis.Redis | None") -> None:
    """Write events as the journal does: rows first, then the stream; without a client only the rows."""
    first = RunEvent.objects.filter(run=run).count() + 1
    rows = RunEvent.objects.bulk_create(
        RunEvent(run=run, seq=seq, key=f"round/{seq}", kind="round.began", at=timezone.now(), body={"rollout": 0, "round": seq})
        for seq in range(first, first + count)
    )
    Run.objects.filter(pk=run.pk).update(last_seq=first + count - 1)
    if client is not None:
        announce_events(client, str(run.public_id), [(row.seq, json.dumps(event_row(row))) for row in rows])


async def test_an_anonymous_visitor_gets_no_frame(valkey: "redis.Redis") -> None:
    run = await database_sync_to_async(make_run)()
    communicator = RunSocket(run, AnonymousUser())
    await communicator.connect()
    assert await communicator.close_code() == 4401


async def test_a_student_gets_the_answer_that_there_is_no_such_run(valkey: "redis.Redis", charlie: User) -> None:
    run = await database_sync_to_async(make_run)()
    communicator = RunSocket(run, charlie)
    await communicator.connect()
    assert await communicator.close_code() == 4404


async def test_a_late_page_gets_what_was_recorded_and_then_what_comes(valkey: "redis.Redis", alice: User) -> None:
    run = await database_sync_to_async(make_run)()
    await database_sync_to_async(add_events)(run, 20, valkey)
    communicator = RunSocket(run, alice)
    await communicator.connect()
    assert await communicator.seqs_until(21) == list(range(1, 22))
    await database_sync_to_async(add_events)(run, 5, valkey)
    assert await communicator.seqs_until(26) == list(range(22, 27))
    await communicator.disconnect()


async def test_two_thousand_events_missed_during_a_break_arrive_once_and_in_order(valkey: "redis.Redis", alice: User) -> None:
    run = await database_sync_to_async(make_run)()
    first = RunSocket(run, alice)
    await first.connect()
    assert await first.seqs_until(1) == [1]
    await first.disconnect()
    await database_sync_to_async(add_events)(run, 2000, valkey)
    again = RunSocket(run, alice, after=1)
    await again.connect()
    assert await again.seqs_until(2001) == list(range(2, 2002))
    await again.disconnect()


async def test_events_arrive_even_where_the_stream_lost_them(valkey: "redis.Redis", alice: User) -> None:
    run = await database_sync_to_async(make_run)()
    communicator = RunSocket(run, alice)
    await communicator.connect()
    assert await communicator.seqs_until(1) == [1]
    await database_sync_to_async(add_events)(run, 3, None)  # Redis was away when they were announced.
    assert await communicator.seqs_until(4) == [2, 3, 4]
    await communicator.disconnect()


async def test_tokens_come_for_watched_calls_only_and_a_new_watcher_gets_the_text_so_far(
    valkey: "redis.Redis", alice: User
) -> None:
    run = await database_sync_to_async(make_run)()
    public_id = str(run.public_id)
    valkey.set(buffer_key(public_id, "s0/r1/reason", 1, "text"), "Let $n$")
    communicator = RunSocket(run, alice)
    await communicator.connect()
    await communicator.say({"t": "watch", "calls": ["s0/r1/reason"]})
    snapshot = await communicator.frame("text")
    assert (snapshot["text"], snapshot["ended"]) == ("Let $n$", False)
    for call in ("s0/r1/reason", "s1/r1/reason"):
        fields: dict[Any, Any] = {"call": call, "attempt": 1, "ch": "text", "off": 7, "text": " be even.", "n": 4}
        valkey.xadd(tokens_key(public_id), fields)
    tokens = await communicator.frame("tokens")
    assert [(item["call"], item["off"], item["text"]) for item in tokens["items"]] == [("s0/r1/reason", 7, " be even.")]
    state = await communicator.frame("state")
    while not state["generating"]:
        state = await communicator.frame("state")
    assert set(state["generating"]) == {"s0/r1/reason", "s1/r1/reason"}
    await communicator.disconnect()


def test_a_stream_of_a_future_that_a_restore_has_undone_begins_again(valkey: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Redis refuses ids below its newest: the events of the restored run would be dropped."""
    run = make_run()
    public_id = str(run.public_id)
    announce_events(valkey, public_id, [(seq, "{}") for seq in range(1, 400)])
    add_events(run, 3, valkey)
    assert [entry for entry, _ in valkey.xrange(events_key(public_id))] == ["2-0", "3-0", "4-0"]
    assert "its stream is further than event 2 and begins again" in caplog.text
    valkey.set(events_key("another"), "no stream")
    with pytest.raises(redis.exceptions.ResponseError, match="WRONGTYPE"):
        announce_events(valkey, "another", [(1, "{}")])


async def test_messages_that_are_not_ours_are_ignored(valkey: "redis.Redis", alice: User) -> None:
    run = await database_sync_to_async(make_run)()
    communicator = RunSocket(run, alice)
    await communicator.connect()
    for text in ("", "[]", "{", '{"t":"watch","calls":"x"}', '{"t":"drop"}', "x" * 9000):
        await communicator.say(text)
    assert await communicator.seqs_until(1) == [1]
    await communicator.disconnect()


def test_a_slow_socket_loses_tokens_and_learns_which_and_keeps_its_memory_small() -> None:
    subscription = Subscription("run")
    subscription.watched = {"a"}
    piece = {"call": "a", "attempt": 1, "ch": "text", "off": 0, "text": "x" * 10_000}
    for _ in range(100):
        subscription.add_tokens(piece)
        assert subscription.token_bytes <= TOKEN_BYTES_PER_SOCKET
    tokens, resync = subscription.take_tokens()
    assert tokens == []
    assert resync == ["a"]
    subscription.add_tokens(piece)
    assert subscription.take_tokens()[0] == [piece]
