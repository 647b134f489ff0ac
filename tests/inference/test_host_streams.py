"""What the host streams: pieces with offsets that fit together, coalesced, and never in the way of a result."""

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from apps.reasoning.domain.errors import EngineLost
from apps.reasoning.domain.generation import Delta, GenerationRequest
from apps.reasoning.inference.aliases import parse_aliases
from apps.reasoning.inference.scripted import Pace, Reply, ScriptedBackend
from tests.inference.conftest import a_request
from workers.host import EngineHost
from workers.running import HostOptions, HostSink

ALIASES = parse_aliases('[tested]\nbackend = "scripted"\nconcurrency = 64\noptions.script = "none"\n')
REPLY = Reply(text="The answer is $x = 1$. " * 10, reasoning="I think so. " * 10)


class Recorder:
    """A sink that keeps what it is told, by call."""

    def __init__(self) -> None:
        self.pieces: dict[str, list[tuple[int, int, Delta]]] = defaultdict(list)
        self.finished: list[str] = []
        self.sent = 0

    def add(self, request: GenerationRequest, delta: Delta, *, text_at: int, reasoning_at: int) -> None:
        self.pieces[request.call_id].append((text_at, reasoning_at, delta))

    def finish(self, request: GenerationRequest) -> None:
        self.finished.append(request.call_id)

    async def send(self) -> None:
        self.sent += 1


class Sink(Recorder):
    """A sink that sends in the way it is given."""

    def __init__(self, send: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._send = send

    async def send(self) -> None:
        await self._send()


def _host(sink: HostSink, speed: float = 400.0) -> EngineHost:
    backend = ScriptedBackend(lambda _: REPLY, pace=Pace(tokens_per_s=speed))
    options = HostOptions(flush_s=0.05, sink_patience_s=0.2)
    return EngineHost(ALIASES, sink=sink, options=options, make_backend=lambda _: backend)


def test_what_comes_after_a_pause_is_told_at_once_and_what_follows_is_gathered() -> None:
    sink = Recorder()
    backend = ScriptedBackend(lambda _: REPLY, pace=Pace(tokens_per_s=50.0))
    host = EngineHost(ALIASES, sink=sink, options=HostOptions(flush_s=30.0), make_backend=lambda _: backend)
    future = host.start(a_request())
    until = time.monotonic() + 20
    while not sink.pieces and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.5)
    told = [piece for pieces in sink.pieces.values() for piece in pieces]
    future.cancel()
    host.close()
    assert len(told) == 1
    assert told[0][2].tokens < 5


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def host(recorder: Recorder) -> Iterator[EngineHost]:
    host = _host(recorder)
    yield host
    host.close()


def _big(key: str = "call") -> GenerationRequest:
    return a_request(key, max_new_tokens=500)


def _until(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 10.0
    while not is_so() and time.monotonic() < until:
        time.sleep(0.01)


def test_offsets_and_pieces_build_the_text_whatever_is_told_twice(host: EngineHost, recorder: Recorder) -> None:
    final = host.run(_big())
    text, reasoning = [""] * len(REPLY.text), [""] * len(REPLY.reasoning)
    pieces = recorder.pieces[_big().call_id]
    for text_at, reasoning_at, delta in [*pieces, *pieces]:
        text[text_at : text_at + len(delta.text)] = delta.text
        reasoning[reasoning_at : reasoning_at + len(delta.reasoning)] = delta.reasoning
    assert "".join(text) == final.text == REPLY.text
    assert "".join(reasoning) == final.reasoning == REPLY.reasoning
    assert sum(delta.tokens for _, _, delta in pieces) == final.usage.completion


def test_everything_of_a_call_is_told_before_its_result(host: EngineHost, recorder: Recorder) -> None:
    for number in range(5):
        final = host.run(_big(str(number)))
        assert "".join(delta.text for _, _, delta in recorder.pieces[_big(str(number)).call_id]) == final.text


def test_tokens_are_told_in_a_few_pieces_not_one_by_one(host: EngineHost, recorder: Recorder) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: host.run(_big(str(number))), range(16)))
    ticks = (time.monotonic() - began) / 0.05 + 2
    assert all(2 <= len(pieces) <= ticks for pieces in recorder.pieces.values())
    assert recorder.sent <= ticks, "what all calls write goes out at once"


def test_a_failing_sink_loses_pieces_but_no_result() -> None:
    async def broken() -> None:
        raise ConnectionError("no Redis")

    host = _host(Sink(broken))
    try:
        assert host.run(_big()).text == REPLY.text
    finally:
        host.close()


def test_a_hanging_sink_delays_a_result_by_its_patience_only() -> None:
    async def hanging() -> None:
        await asyncio.sleep(60)

    host = _host(Sink(hanging))
    try:
        began = time.monotonic()
        assert host.run(_big()).text == REPLY.text
        assert time.monotonic() - began < 3.0
    finally:
        host.close()


def test_the_sink_runs_in_the_loop_of_the_host(host: EngineHost) -> None:
    names: set[str] = set()

    async def noting() -> None:
        names.add(threading.current_thread().name)

    other = _host(Sink(noting))
    try:
        other.run(_big())
    finally:
        other.close()
    assert names == {"engine-loop"}


def test_a_call_that_is_over_before_the_first_piece_is_due_is_not_streamed() -> None:
    recorder = Recorder()
    host = _host(recorder, speed=0.0)
    try:
        assert host.run(_big()).text == REPLY.text
    finally:
        host.close()
    assert not recorder.pieces
    assert not recorder.finished


def test_the_sink_hears_when_a_streamed_call_is_over(host: EngineHost, recorder: Recorder) -> None:
    host.run(_big())
    assert recorder.finished == [_big().call_id]


@pytest.mark.parametrize("stop", ["cancel", "drain"])
def test_a_call_that_is_stopped_while_the_sink_hangs_is_settled(stop: str) -> None:
    """The patience with what stops a call ends before the patience with the sink, and the wait for the sink is cancelled."""
    hangs = threading.Event()
    told: list[str] = []

    async def send() -> None:
        if hangs.is_set():
            await asyncio.sleep(60)
        told.append("sent")

    sink = Sink(send)
    backend = ScriptedBackend(lambda _: "word " * 500, pace=Pace(tokens_per_s=200.0))
    options = HostOptions(flush_s=0.02, sink_patience_s=1.5, abort_patience_s=0.2)
    host = EngineHost(ALIASES, sink=sink, options=options, make_backend=lambda _: backend)
    try:
        future = host.start(_big())
        _until(lambda: bool(told))
        hangs.set()
        time.sleep(0.1)
        if stop == "cancel":
            assert host.cancel_run("run") == 1
            assert future.result(timeout=2.0).finish_reason == "cancelled"
        else:
            assert host.drain(0.0) == 1
            assert isinstance(future.exception(timeout=0.5), EngineLost)
        assert host.active() == []
        hangs.clear()
        _until(lambda: bool(sink.finished))
        assert sink.finished == [_big().call_id], "the sink still hears that there is no more of the call"
    finally:
        host.close()


def test_a_sink_that_failed_is_asked_again_though_nothing_more_is_written() -> None:
    tries: list[str] = []

    async def failing_once_the_call_is_over() -> None:
        tries.append("failed" if sink.finished and "failed" not in tries else "sent")
        if tries[-1] == "failed":
            raise ConnectionError("no Redis")

    sink = Sink(failing_once_the_call_is_over)
    host = _host(sink)
    try:
        host.run(_big())
        _until(lambda: tries[-1] == "sent")
        assert tries[-2:] == ["failed", "sent"]
        time.sleep(0.2)
        assert tries.count("failed") == 1
        assert tries[-2:] == ["failed", "sent"], "once it has taken all it is left in peace"
    finally:
        host.close()
