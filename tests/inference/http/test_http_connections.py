"""A call over HTTP returns its connection to the pool however it ends, so any number of calls is possible."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from apps.reasoning.domain.errors import BackendError, BackendUnavailable, DeadlineExceeded, EngineLost
from apps.reasoning.domain.generation import Final
from apps.reasoning.inference import openai_http
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from apps.reasoning.inference.streaming import read_to_final
from tests.inference.conftest import a_request
from tests.inference.http.fake_server import Canned, FakeModelServer, piece, sse

CONCURRENCY = 2
MANY = 3 * (CONCURRENCY + 4)
ANSWER = (sse(piece("Hi")), sse(piece(finish="stop"), "[DONE]"))
TRANSPORT_ENDS = ["connection closed", "chunked", "chunked, end late", "chunked, no end"]


class RawServer:
    """A server with one fixed answer in the loop of the test, so that a test can stop a call at every moment."""

    def __init__(self) -> None:
        self.status = "200 OK"
        self.ends = "chunked"
        self.base_url = ""
        self.handlers: set[asyncio.Task[Any]] = set()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = asyncio.current_task()
        assert handler is not None
        self.handlers.add(handler)
        handler.add_done_callback(self.handlers.discard)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
                await self._write(writer)
                if self.ends == "connection closed":
                    break
        writer.close()

    async def _write(self, writer: asyncio.StreamWriter) -> None:
        is_chunked = self.ends != "connection closed"
        kind = "Transfer-Encoding: chunked" if is_chunked else "Connection: close"
        writer.write(f"HTTP/1.1 {self.status}\r\nContent-Type: text/event-stream\r\n{kind}\r\n\r\n".encode())
        for part in ANSWER:
            writer.write(b"%x\r\n%s\r\n" % (len(part), part) if is_chunked else part)
            await writer.drain()
        if self.ends == "chunked, end late":
            await asyncio.sleep(0.02)
        if self.ends in ("chunked", "chunked, end late"):
            writer.write(b"0\r\n\r\n")
            await writer.drain()


@pytest.fixture
async def raw_server() -> AsyncIterator[RawServer]:
    server = RawServer()
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    server.base_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
    yield server
    listening.close()
    if server.handlers:
        await asyncio.wait(server.handlers, timeout=5)


def _backend(base_url: str, **options: object) -> OpenAIHttpBackend:
    table = {"name": "served", "title": "", "backend": "openai_http", "model": "fake-model", "base_url": base_url}
    alias = Alias.model_validate(table | {"concurrency": CONCURRENCY, "options": options})
    return OpenAIHttpBackend(alias, wait_scale=0.01)


def _in_use(backend: OpenAIHttpBackend) -> int:
    """The number of active requests in the connection pool plus connections that are not idle."""
    transport: Any = backend._client._transport
    busy = [connection for connection in transport._pool.connections if not connection.is_idle()]
    return len(transport._pool._requests) + len(busy)


async def _final(backend: OpenAIHttpBackend, number: int = 0, deadline_s: float = 5.0) -> Final:
    return await read_to_final(backend, a_request(f"call/{number}", deadline_s=deadline_s))


async def _finish_cleanly(backend: OpenAIHttpBackend) -> None:
    """Check that no connection is in use and that as many calls as places succeed. Closes the backend."""
    assert _in_use(backend) == 0
    finals = await asyncio.gather(*(_final(backend, 1000 + number) for number in range(CONCURRENCY + 4)))
    assert {final.finish_reason for final in finals} <= {"stop", "length"}
    assert _in_use(backend) == 0
    await backend.close()


@pytest.mark.parametrize("ends", TRANSPORT_ENDS)
async def test_many_consecutive_calls_all_end(raw_server: RawServer, ends: str) -> None:
    raw_server.ends = ends
    backend = _backend(raw_server.base_url)
    for number in range(MANY):
        assert (await _final(backend, number)).text == "Hi"
        assert _in_use(backend) == 0
    await _finish_cleanly(backend)


@pytest.mark.parametrize("ends", TRANSPORT_ENDS)
async def test_many_simultaneous_calls_all_end(raw_server: RawServer, ends: str) -> None:
    raw_server.ends = ends
    backend = _backend(raw_server.base_url)
    finals = await asyncio.gather(*(_final(backend, number) for number in range(MANY)))
    assert {final.text for final in finals} == {"Hi"}
    await _finish_cleanly(backend)


async def test_the_server_never_gets_more_simultaneous_calls_than_the_alias_allows(model_server: FakeModelServer) -> None:
    model_server.pause_s = 0.001
    backend = _backend(model_server.base_url)
    calls = [asyncio.create_task(_final(backend, number, 60.0)) for number in range(MANY)]
    async with asyncio.timeout(10):
        while not model_server.running:
            await asyncio.sleep(0.005)
    health = await backend.health()
    assert (health.running, health.waiting) == (CONCURRENCY, MANY - CONCURRENCY)
    assert all(final.text for final in await asyncio.gather(*calls))
    assert model_server.most_at_once <= CONCURRENCY
    await _finish_cleanly(backend)


async def _abort(backend: OpenAIHttpBackend, call: asyncio.Task[Final], call_id: str) -> None:
    await backend.abort(call_id)


async def _abort_repeatedly(backend: OpenAIHttpBackend, call: asyncio.Task[Final], call_id: str) -> None:
    while not call.done():
        await backend.abort(call_id)
        await asyncio.sleep(0)


async def _cancel_the_reader(backend: OpenAIHttpBackend, call: asyncio.Task[Final], call_id: str) -> None:
    call.cancel()


async def _cancel_the_reader_twice(backend: OpenAIHttpBackend, call: asyncio.Task[Final], call_id: str) -> None:
    call.cancel()
    await asyncio.sleep(0)
    call.cancel()


@pytest.mark.parametrize(
    ("status", "ends"),
    [*(("200 OK", ends) for ends in TRANSPORT_ENDS), ("500 Broken", "connection closed"), ("500 Broken", "chunked")],
)
@pytest.mark.parametrize("stop", [_abort, _abort_repeatedly, _cancel_the_reader, _cancel_the_reader_twice])
async def test_a_call_can_be_stopped_at_any_moment(
    raw_server: RawServer,
    stop: Callable[[OpenAIHttpBackend, asyncio.Task[Final], str], Awaitable[None]],
    status: str,
    ends: str,
) -> None:
    """Stop each call one turn of the loop later than the previous one: while it connects, sends, reads and closes."""
    raw_server.ends, raw_server.status = ends, status
    backend = _backend(raw_server.base_url)
    for turns in range(50):
        request = a_request(f"call/{turns}", deadline_s=5.0)
        call = asyncio.create_task(read_to_final(backend, request))
        for _ in range(turns):
            await asyncio.sleep(0)
        await stop(backend, call, request.call_id)
        with contextlib.suppress(asyncio.CancelledError, EngineLost):
            await call
        async with asyncio.timeout(1):
            while _in_use(backend):
                await asyncio.sleep(0)
    raw_server.status = "200 OK"
    await _finish_cleanly(backend)


async def test_calls_closed_after_their_first_piece_return_their_connections(model_server: FakeModelServer) -> None:
    model_server.pause_s = 0.01
    backend = _backend(model_server.base_url)
    for number in range(MANY):
        stream = backend.generate(a_request(f"call/{number}"))
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]  # the port promises an iterator; ours is a generator
        assert _in_use(backend) == 0
    model_server.pause_s = 0.0
    await _finish_cleanly(backend)


async def test_calls_beyond_their_deadline_return_their_connections(model_server: FakeModelServer) -> None:
    """Some deadlines pass during the answer, some while the call waits for its turn."""
    model_server.pause_s = 0.05
    backend = _backend(model_server.base_url)
    calls = (_final(backend, number, 0.01 * (number + 1)) for number in range(MANY))
    ends = await asyncio.gather(*calls, return_exceptions=True)
    assert {type(end) for end in ends} == {DeadlineExceeded}
    model_server.pause_s = 0.0
    await _finish_cleanly(backend)


@pytest.mark.parametrize(
    "canned",
    [
        Canned(status=500, body=(b"broken",)),
        Canned(status=503, body=(b"busy",)),
        Canned(status=400, body=(b"no",)),
        Canned(body=(sse(piece("Half")),), cut=True),
        Canned(body=(sse(piece("Half")),)),
        Canned(body=(b"data: <html>\n\n", sse(piece("More")))),
        Canned(body=(sse({"error": {"message": "CUDA out of memory"}}), sse(piece("More")))),
    ],
    ids=["500", "busy", "rejected", "cut", "no end", "no JSON", "error inside"],
)
async def test_failed_calls_return_their_connections(model_server: FakeModelServer, canned: Canned) -> None:
    backend = _backend(model_server.base_url, retries=1)
    for number in range(MANY):
        model_server.next_answers.extend([canned] * (2 if canned.status == 503 else 1))
        with pytest.raises(BackendError):
            await _final(backend, number)
        assert _in_use(backend) == 0
    await _finish_cleanly(backend)


async def test_closing_the_backend_ends_its_calls_and_leaves_no_connection(model_server: FakeModelServer) -> None:
    model_server.pause_s = 0.05
    backend = _backend(model_server.base_url)
    calls = [asyncio.create_task(_final(backend, number)) for number in range(MANY)]
    async with asyncio.timeout(10):
        while not model_server.running:
            await asyncio.sleep(0.005)
    await backend.close()
    ends = await asyncio.gather(*calls, return_exceptions=True)
    assert {str(end) for end in ends} == {"The worker is stopping."}
    assert _in_use(backend) == 0


async def test_connections_that_are_never_returned_cause_an_error_instead_of_a_wait(
    model_server: FakeModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_http, "_POOL_TIMEOUT_S", 0.05)
    model_server.pause_s = 0.05
    backend = _backend(model_server.base_url, retries=0)
    async with contextlib.AsyncExitStack() as lost:
        body = {"model": "fake-model", "messages": []}
        for _ in range(CONCURRENCY + 4):
            url = f"{model_server.base_url}/chat/completions"
            await lost.enter_async_context(backend._client.stream("POST", url, json=body))
        with pytest.raises(BackendUnavailable, match="were not handed back") as raised:
            await _final(backend)
        assert raised.value.fatal_for_run
    await backend.close()
