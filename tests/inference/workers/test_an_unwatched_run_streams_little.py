"""Text of unwatched runs is published every few seconds instead of twenty times a second."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from apps.processes.streams import watch_key
from apps.reasoning.domain.generation import Delta, GenerationRequest
from apps.reasoning.inference.aliases import parse_aliases
from apps.reasoning.inference.scripted import Pace, Reply, ScriptedBackend
from apps.runs.live.tail import Hub
from tests.inference.conftest import a_request
from workers.host import EngineHost
from workers.running import HostOptions

ALIASES = parse_aliases('[tested]\nbackend = "scripted"\nconcurrency = 64\noptions.script = "none"\n')
REPLY = Reply(text="The answer is $x = 1$. " * 10)


class Pieces:
    """A sink that stores the pieces of each call."""

    def __init__(self) -> None:
        self.of: dict[str, list[str]] = defaultdict(list)

    def add(self, request: GenerationRequest, delta: Delta, *, text_at: int, reasoning_at: int) -> None:
        self.of[request.key].append(delta.text)

    def finish(self, request: GenerationRequest) -> None:
        """Do nothing."""

    async def send(self) -> None:
        """Do nothing."""


@pytest.fixture
def pieces() -> Pieces:
    return Pieces()


@pytest.fixture
def host(pieces: Pieces) -> Iterator[EngineHost]:
    backend = ScriptedBackend(lambda _: REPLY, pace=Pace(tokens_per_s=60.0))
    options = HostOptions(flush_s=0.02, unwatched_s=30.0)
    host = EngineHost(ALIASES, sink=pieces, options=options, make_backend=lambda _: backend)
    yield host
    host.close()


def test_a_call_of_an_unwatched_run_is_not_streamed_and_its_result_is_complete(host: EngineHost, pieces: Pieces) -> None:
    host.readers.update(frozenset())
    assert host.run(a_request("call", max_new_tokens=500)).text == REPLY.text
    assert pieces.of == {}


def test_a_call_of_a_watched_run_is_streamed_at_the_same_time_as_an_unwatched_one(host: EngineHost, pieces: Pieces) -> None:
    watched, other = a_request("watched", max_new_tokens=500), a_request("other", max_new_tokens=500)
    host.readers.update(frozenset({watched.run}))
    ends = [host.start(watched), host.start(other.model_copy(update={"run": "elsewhere"}))]
    assert [end.result().text for end in ends] == [REPLY.text] * 2
    assert len(pieces.of["watched"]) > 5
    assert "".join(pieces.of["watched"]) == REPLY.text
    assert "other" not in pieces.of


def test_a_new_viewer_gets_the_earlier_text_of_a_call(host: EngineHost, pieces: Pieces) -> None:
    host.readers.update(frozenset())
    request = a_request("call", max_new_tokens=500)
    end = host.start(request)
    time.sleep(0.4)
    assert pieces.of == {}
    host.readers.update(frozenset({request.run}))
    assert end.result().text == "".join(pieces.of["call"])
    assert len(pieces.of["call"][0]) > len(pieces.of["call"][1])


def test_a_long_call_of_an_unwatched_run_is_still_streamed_occasionally(pieces: Pieces) -> None:
    backend = ScriptedBackend(lambda _: REPLY, pace=Pace(tokens_per_s=60.0))
    options = HostOptions(flush_s=0.02, unwatched_s=0.3)
    host = EngineHost(ALIASES, sink=pieces, options=options, make_backend=lambda _: backend)
    host.readers.update(frozenset())
    try:
        host.run(a_request("call", max_new_tokens=500))
    finally:
        host.close()
    assert 2 <= len(pieces.of["call"]) <= 8
    assert "".join(pieces.of["call"]) == REPLY.text


async def test_an_open_page_marks_its_run_as_watched_and_renews_the_mark(valkey: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.runs.live.tail._BLOCK_MS", 50)
    monkeypatch.setattr("apps.runs.live.tail._WATCH_EVERY_S", 0.1)
    hub = Hub()
    try:
        await hub.subscribe("open")
        assert valkey.ttl(watch_key("open")) > 0
        valkey.delete(watch_key("open"))
        await asyncio.sleep(0.5)
        assert valkey.exists(watch_key("open"))
        assert not valkey.exists(watch_key("closed"))
    finally:
        await hub.close()
