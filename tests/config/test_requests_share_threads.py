"""Threads of requests are used again, and never for two requests at once. Few requests begin at once."""

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.http import HttpRequest, HttpResponse

from apps.processes import request_threads as requests
from apps.processes.request_threads import RequestHandler

SCOPE = {
    "type": "http",
    "http_version": "1.1",
    "method": "GET",
    "path": "/",
    "query_string": b"",
    "headers": [],
    "root_path": "",
}


class Handler(RequestHandler):
    """Answers with the name of its thread, at `/slow` after `go`."""

    def __init__(self) -> None:
        super().__init__()
        self.is_busy, self.go = threading.Event(), threading.Event()

    def get_response(self, request: HttpRequest) -> HttpResponse:
        if request.path == "/slow":
            self.is_busy.set()
            assert self.go.wait(20)
        return HttpResponse(str(threading.get_ident()))


@pytest.fixture(autouse=True)
def _no_idle_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    idle: deque[Any] = deque()
    monkeypatch.setattr(requests, "_idle", idle)
    yield
    while idle:  # Threads still come back.
        idle.pop().shutdown()


async def begun(handler: Handler, path: str = "/") -> Any:
    request: Any = ApplicationCommunicator(handler, {**SCOPE, "path": path})  # type: ignore[no-untyped-call]
    await request.send_input({"type": "http.request", "body": b""})
    return request


async def thread_of(request: Any) -> str:
    """The thread that answered; the request ends with it."""
    assert (await request.receive_output(10))["status"] == 200
    name: bytes = (await request.receive_output(10))["body"]
    await request.wait(10)
    return name.decode()


@pytest.mark.django_db(transaction=True)
async def test_the_next_request_has_the_thread_of_the_last_one() -> None:
    handler = Handler()
    assert len({await thread_of(await begun(handler)) for _ in range(3)}) <= 2  # One may still be on its way back.


@pytest.mark.django_db(transaction=True)
async def test_a_thread_that_is_busy_after_a_lost_connection_gets_no_request() -> None:
    handler = Handler()
    lost = await begun(handler, "/slow")
    while not handler.is_busy.is_set():
        assert await lost.receive_nothing(0.05)
    await lost.send_input({"type": "http.disconnect"})
    assert await lost.receive_nothing(0.1)
    assert await thread_of(await begun(handler))
    assert len(requests._idle) <= 1
    handler.go.set()
    await lost.wait(10)


@pytest.mark.django_db(transaction=True)
async def test_a_request_beyond_the_limit_begins_when_another_has_ended_or_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "AT_ONCE", 1)
    monkeypatch.setattr(requests, "SLOW_S", 2.0)
    handler = Handler()
    slow = await begun(handler, "/slow")
    while not handler.is_busy.is_set():
        assert await slow.receive_nothing(0.05)
    waits = await begun(handler)
    assert await waits.receive_nothing(0.5)
    assert await thread_of(waits)  # The slow one is not ended yet.
    handler.go.set()
    assert await thread_of(slow)
    assert await thread_of(await begun(handler))


@pytest.mark.django_db(transaction=True)
async def test_a_body_that_comes_slowly_takes_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "AT_ONCE", 1)
    monkeypatch.setattr(requests, "SLOW_S", 60.0)
    handler = Handler()
    phone: Any = ApplicationCommunicator(handler, {**SCOPE, "path": "/"})  # type: ignore[no-untyped-call]
    await phone.send_input({"type": "http.request", "body": b"text=Let+n", "more_body": True})
    assert await thread_of(await begun(handler))
    await phone.send_input({"type": "http.request", "body": b"+be+odd"})
    assert await thread_of(phone)
    gone: Any = ApplicationCommunicator(handler, {**SCOPE, "path": "/"})  # type: ignore[no-untyped-call]
    await gone.send_input({"type": "http.disconnect"})
    await gone.wait(10)
    assert await thread_of(await begun(handler))
