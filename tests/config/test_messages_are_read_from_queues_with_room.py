"""Our kombu transport against a real Valkey: crowded queues deliver only urgent messages, without useless acknowledgements."""

import contextlib
import time
from collections.abc import Iterator
from queue import Empty
from typing import Any

import pytest
import redis
from kombu import Connection, Consumer, Queue
from kombu.transport import TRANSPORT_ALIASES

from apps.config import broker
from apps.config.celery import app
from apps.processes.streams import oldest_message, queue_length
from apps.runs.calls.sending import send_now


@pytest.fixture
def connection(valkey: "redis.Redis", _valkey_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection]:
    monkeypatch.setattr(broker.Channel, "crowded", staticmethod(tuple))
    assert TRANSPORT_ALIASES["redis+socket"] == "apps.config.broker:Transport"
    url = _valkey_url.replace("unix://", "redis+socket://").replace("?db=", "?virtual_host=")
    options = {"priority_steps": [0, 3, 6, 9], "queue_order_strategy": "round_robin"}
    with Connection(url, transport_options=options) as connection:
        yield connection


def put(connection: Connection, queue: str, text: str, priority: int) -> None:
    producer = connection.Producer(serializer="json")
    headers = {"sent_at": 1000.0 + priority}
    producer.publish(text, routing_key=queue, declare=[Queue(queue)], priority=priority, headers=headers)


def read(connection: Connection, *queues: str, no_ack: bool = True) -> list[str]:
    """All messages that can be read now, in order."""
    found: list[str] = []

    def take(body: str, message: Any) -> None:
        found.append(body)
        message.ack()

    with Consumer(connection.channel(), [Queue(name, no_ack=no_ack) for name in queues], callbacks=[take]):
        while True:
            try:
                connection.drain_events(timeout=0.3)
            except (TimeoutError, Empty):
                return found


def test_urgent_messages_come_first(connection: Connection) -> None:
    for text, priority in (("batch", 6), ("night", 9), ("person", 0)):
        put(connection, "one", text, priority)
    assert read(connection, "one") == ["person", "batch", "night"]


def test_a_crowded_queue_delivers_only_urgent_messages(connection: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker.Channel, "crowded", staticmethod(lambda: {"one"}))
    for queue in ("one", "two"):
        put(connection, queue, f"batch of {queue}", 6)
        put(connection, queue, f"urgent of {queue}", 3)
    assert set(read(connection, "one", "two")) == {"urgent of one", "urgent of two", "batch of two"}
    monkeypatch.setattr(broker.Channel, "crowded", staticmethod(tuple))
    assert read(connection, "one", "two") == ["batch of one"]


def wait_for_urgent(connection: Connection, queue: str, found: list[str]) -> tuple[Consumer, Any]:
    """A consumer of a crowded queue whose wait for urgent messages has begun, and its channel."""
    channel: Any = connection.channel()
    consumer = Consumer(channel, [Queue(queue, no_ack=True)], callbacks=[lambda body, _: found.append(body)])
    consumer.consume()
    with pytest.raises(TimeoutError):
        connection.drain_events(timeout=0.05)
    return consumer, channel


def test_a_wait_for_urgent_messages_ends_as_soon_as_there_is_room(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broker.Channel, "crowded", staticmethod(lambda: {"one"}))
    put(connection, "one", "batch", 6)
    found: list[str] = []
    _, channel = wait_for_urgent(connection, "one", found)
    assert channel.retry_crowded() is False
    with pytest.raises(TimeoutError):
        connection.drain_events(timeout=0.05)
    monkeypatch.setattr(broker.Channel, "crowded", staticmethod(tuple))
    assert channel.retry_crowded() is False
    connection.drain_events(timeout=0.5)
    assert found == ["batch"]


@pytest.mark.parametrize("forbidden", ["client|id", "client|unblock"])
def test_a_broker_without_client_unblock_is_polled(
    connection: Connection, valkey: Any, monkeypatch: pytest.MonkeyPatch, forbidden: str
) -> None:
    put(connection, "one", "batch", 6)
    put(connection, "one", "another", 6)
    found: list[str] = []
    valkey.acl_setuser("default", enabled=True, commands=[f"-{forbidden}"])
    try:
        for expected in (["batch"], ["batch", "another"]):
            monkeypatch.setattr(broker.Channel, "crowded", staticmethod(lambda: {"one"}))
            consumer, channel = wait_for_urgent(connection, "one", found)
            monkeypatch.setattr(broker.Channel, "crowded", staticmethod(tuple))
            assert channel.retry_crowded() is False
            connection.drain_events(timeout=3)
            assert found == expected
            assert channel._client_number() == 0
            consumer.cancel()
            channel.close()
    finally:
        valkey.acl_setuser("default", enabled=True, commands=["+@all"])


def test_queues_take_turns(connection: Connection) -> None:
    for number in range(3):
        put(connection, "one", f"one {number}", 6)
        put(connection, "two", f"two {number}", 6)
    order = [text.split()[0] for text in read(connection, "one", "two")]
    assert order in (["one", "two"] * 3, ["two", "one"] * 3)


def test_a_message_read_without_acknowledgement_needs_no_further_command(connection: Connection, valkey: Any) -> None:
    put(connection, "one", "a message", 6)
    before = valkey.info("commandstats")
    assert read(connection, "one") == ["a message"]
    after = valkey.info("commandstats")
    for command in ("cmdstat_zrem", "cmdstat_hdel", "cmdstat_zadd"):
        assert after.get(command) == before.get(command)


def test_the_broker_forgets_an_acknowledged_message(connection: Connection, valkey: Any) -> None:
    put(connection, "one", "a message", 6)
    assert read(connection, "one", no_ack=False) == ["a message"]
    assert valkey.zcard("unacked_index") == 0


def test_the_reaper_sees_how_old_the_next_message_is(connection: Connection, valkey: Any) -> None:
    assert oldest_message(valkey, "one", 6) is None
    put(connection, "one", "a message", 6)
    put(connection, "one", "another", 9)
    assert oldest_message(valkey, "one", 6) == oldest_message(valkey, "one", 7) == 1006.0
    assert oldest_message(valkey, "one", 9) == 1009.0
    assert queue_length(valkey, "one") == 2
    assert app.conf.broker_transport_options["priority_steps"] == [0, 3, 6, 9]


def test_a_message_of_calls_has_its_time_of_sending(
    connection: Connection, valkey: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "producer_or_acquire", lambda _=None: contextlib.nullcontext(connection.Producer()))
    before = time.time()
    send_now([("{}", "fp")], "inference.tested", 6)
    oldest = oldest_message(valkey, "inference.tested", 6)
    assert oldest is not None
    assert before - 1 <= oldest <= time.time() + 1
