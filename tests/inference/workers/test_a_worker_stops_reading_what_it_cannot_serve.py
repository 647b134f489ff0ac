"""Calls that a worker holds of each queue, and when it takes only urgent messages."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from apps.config import broker
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.inference.aliases import parse_aliases
from tests.inference.conftest import a_request
from workers.worker import Worker

ALIASES = parse_aliases(
    '[small]\nbackend = "scripted"\nconcurrency = 2\noptions.script = "none"\n'
    '[other]\nbackend = "scripted"\nconcurrency = 8\noptions.script = "none"\n'
)


class Held:
    """A backend whose calls wait until they are released."""

    def __init__(self) -> None:
        self.released = threading.Event()

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        while not self.released.is_set():
            await asyncio.sleep(0.01)
        yield Final(text="done", finish_reason="stop")

    async def abort(self, call_id: str) -> None:
        self.released.set()

    async def health(self) -> Health:
        return Health(state="ready")

    async def close(self) -> None:
        self.released.set()


@pytest.fixture
def backend() -> Held:
    return Held()


@pytest.fixture
def worker(valkey: Any, backend: Held) -> Iterator[Worker]:
    worker = Worker(make_backend=lambda _: backend, aliases=ALIASES)
    yield worker
    backend.released.set()
    worker.close()


def test_a_queue_is_crowded_at_one_and_a_half_times_its_places_until_calls_have_ended(worker: Worker, backend: Held) -> None:
    def answer(number: int) -> threading.Thread:
        calls = [(a_request(str(number), alias="small"), f"fp{number}")]
        thread = threading.Thread(target=worker.answer, args=(calls,))
        thread.start()
        return thread

    threads = [answer(number) for number in range(2)]
    for thread in threads:
        thread.join(timeout=0.2)
    assert worker.crowded_queues() == set()
    threads.append(answer(2))
    threads[-1].join(timeout=0.2)
    assert worker.crowded_queues() == {"inference.small"}
    backend.released.set()
    for thread in threads:
        thread.join(timeout=5)
    assert worker.crowded_queues() == set()


def test_a_message_delivered_twice_takes_no_second_place(worker: Worker, backend: Held) -> None:
    calls = [(a_request(str(number), alias="small"), f"fp{number}") for number in range(2)]
    twice = [threading.Thread(target=worker.answer, args=(calls,)) for _ in range(2)]
    for thread in twice:
        thread.start()
        thread.join(timeout=0.2)
    assert worker.crowded_queues() == set()
    backend.released.set()
    for thread in twice:
        thread.join(timeout=5)
        assert not thread.is_alive()
    assert not any(worker._held.values()), "places that are not released would block the queue for ever"


def test_a_message_counts_when_it_is_received_and_the_broker_learns_when_there_is_room(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    freed: list[str] = []
    monkeypatch.setattr(broker, "room_freed", lambda: freed.append("room"))
    message = SimpleNamespace(delivery_info={"routing_key": "inference.small"})
    for _ in range(4):
        worker.message_received(request=message)
    assert worker.crowded_queues() == {"inference.small"}
    worker.message_done(task=SimpleNamespace(request=message))
    assert not freed
    worker.message_done(task=SimpleNamespace(request=message))
    assert freed == ["room"]
    assert worker.crowded_queues() == set()
    worker.message_done(task=SimpleNamespace(request=message))
    assert freed == ["room"]
