"""Streams of the host: collected pieces with consistent offsets, which never delay a result for long."""

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
    """A sink that stores its pieces by call."""

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
    """A sink with the given `send`."""

    def __init__(self, send: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._send = send

    async def send(self) -> None:
        await self._send()


def _host(sink: HostSink, speed: float = 400.0) -> EngineHost:
    backend = ScriptedBackend(lambda _: REPLY, pace=Pace(tokens_per_s=speed))
    options = HostOptions(flush_s=0.05, sink_patience_s=0.2)
    return EngineHost(ALIASES, sink=sink, options=options, make_backend=lambda _: backend)


def test_the_first_piece_after_a_pause_is_sent_at_once_and_later_ones_are_collected() -> None:
    sink = Recorder()
    backend = ScriptedBackend(lambda _: REPLY, pace=Pace(tokens_per_s=50.0))
    host = EngineHost(ALIASES, sink=sink, options=HostOptions(flush_s=30.0), make_backend=lambda _: backend)
    future = host.start(a_request())
    until = time.monotonic() + 20
    while not sink.pieces and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.5)
    sent = [piece for pieces in sink.pieces.values() for piece in pieces]
    future.cancel()
    host.close()
    assert len(sent) == 1
    assert sent[0][2].tokens < 5


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


def test_offsets_and_pieces_build_the_text_even_if_pieces_repeat(host: EngineHost, recorder: Recorder) -> None:
    final = host.run(_big())
    text, reasoning = [""] * len(REPLY.text), [""] * len(REPLY.reasoning)
    pieces = recorder.pieces[_big().call_id]
    for text_at, reasoning_at, delta in [*pieces, *pieces]:
        text[text_at : text_at + len(delta.text)] = delta.text
        reasoning[reasoning_at : reasoning_at + len(delta.reasoning)] = delta.reasoning
    assert "".join(text) == final.text == REPLY.text
    assert "".join(reasoning) == final.reasoning == REPLY.reasoning
    assert sum(delta.tokens for _, _, delta in pieces) == final.usage.completion


def test_all_pieces_of_a_call_are_sent_before_its_result(host: EngineHost, recorder: Recorder) -> None:
    for number in range(5):
        final = host.run(_big(str(number)))
        assert "".join(delta.text for _, _, delta in recorder.pieces[_big(str(number)).call_id]) == final.text


def test_tokens_are_sent_in_a_few_pieces(host: EngineHost, recorder: Recorder) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda number: host.run(_big(str(number))), range(16)))
    ticks = (time.monotonic() - began) / 0.05 + 2
    assert all(2 <= len(pieces) <= ticks for pieces in recorder.pieces.values())
    assert recorder.sent <= ticks, "pieces of all calls are sent together"


def test_a_failing_sink_loses_pieces_but_no_results() -> None:
    async def broken() -> None:
        raise ConnectionError("no Redis")

    host = _host(Sink(broken))
    try:
        assert host.run(_big()).text == REPLY.text
    finally:
        host.close()


def test_a_hanging_sink_delays_a_result_only_by_its_patience() -> None:
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


def test_a_call_that_ends_before_its_first_piece_is_due_is_not_streamed() -> None:
    recorder = Recorder()
    host = _host(recorder, speed=0.0)
    try:
        assert host.run(_big()).text == REPLY.text
    finally:
        host.close()
    assert not recorder.pieces
    assert not recorder.finished


def test_the_sink_learns_when_a_streamed_call_is_over(host: EngineHost, recorder: Recorder) -> None:
    host.run(_big())
    assert recorder.finished == [_big().call_id]


@pytest.mark.parametrize("stop", ["cancel", "drain"])
def test_a_call_that_is_stopped_while_the_sink_hangs_is_settled(stop: str) -> None:
    """The patience for an abort ends before the patience for the sink, so the wait for the sink is cancelled."""
    hangs = threading.Event()
    sends: list[str] = []

    async def send() -> None:
        if hangs.is_set():
            await asyncio.sleep(60)
        sends.append("sent")

    sink = Sink(send)
    backend = ScriptedBackend(lambda _: "word " * 500, pace=Pace(tokens_per_s=200.0))
    options = HostOptions(flush_s=0.02, sink_patience_s=1.5, abort_patience_s=0.2)
    host = EngineHost(ALIASES, sink=sink, options=options, make_backend=lambda _: backend)
    try:
        future = host.start(_big())
        _until(lambda: bool(sends))
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
        assert sink.finished == [_big().call_id], "the sink still learns that the call is over"
    finally:
        host.close()


def test_a_failed_sink_is_retried_even_without_new_text() -> None:
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
        assert tries[-2:] == ["failed", "sent"], "there is no further send after a success"
    finally:
        host.close()
