"""Broken connections: no event is lost or doubled, a writing request happens once, and a dead server is reported."""

import json
from collections.abc import Iterator

import httpx
import pytest
from lemmascope_client import Client, Disconnected, NotFound, Unavailable, transport

RUN = {"id": "r1", "title": "A run", "status": "running", "last_seq": 0}


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client would have waited."""
    waited: list[float] = []
    for module in ("events", "transport"):
        monkeypatch.setattr(f"lemmascope_client.{module}.sleep", waited.append)
    return waited


class Broken(httpx.SyncByteStream):
    """A stream of events after `last` that breaks, or ends the run."""

    def __init__(self, last: int, count: int, *, ends: bool) -> None:
        self.last, self.count, self.ends = last, count, ends

    def __iter__(self) -> Iterator[bytes]:
        yield b": beat\n\n"
        for seq in range(self.last + 1, self.last + self.count + 1):
            body = {"text": "a line\u2028and another"}
            row = {"seq": seq, "key": f"k{seq}", "kind": "round.began", "at": "2026-01-01T00:00:00+00:00", "body": body}
            yield f"id: {seq}\nevent: round.began\ndata: {json.dumps(row, ensure_ascii=False)}\n\n".encode()
        if not self.ends:
            yield b"id: 99\nevent: cut"
            raise httpx.ReadError("connection reset")
        yield b'event: end\ndata: {"status": "finished"}\n\n'


def client_of(answer: "httpx.MockTransport") -> Client:
    return Client("http://there", "lsc_x", transport=answer)


def test_a_broken_stream_continues_after_the_last_whole_event() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/stream"):
            return httpx.Response(200, json=RUN)
        asked.append(request.headers["Last-Event-ID"])
        if len(asked) == 2:
            raise httpx.ConnectError("refused")
        if len(asked) == 3:
            return httpx.Response(503, headers={"Retry-After": "7"}, json={"detail": "The disk is full."})
        return httpx.Response(200, stream=Broken(int(asked[-1]), 3, ends=len(asked) > 4))

    with client_of(httpx.MockTransport(answer)) as client:
        assert [event.seq for event in client.run("r1").follow()] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert asked == ["0", "3", "3", "3", "6"]


def test_a_stream_that_the_server_refuses_is_not_tried_again() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/stream"):
            return httpx.Response(404, json={"detail": "There is no such run, or you may not see it."})
        return httpx.Response(200, json=RUN)

    with client_of(httpx.MockTransport(answer)) as client, pytest.raises(NotFound, match="no such run"):
        next(client.run("r1").follow())


def test_a_server_that_is_gone_is_reported_when_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 10_000, 100))
    monkeypatch.setattr("lemmascope_client.events.monotonic", lambda: float(next(clock)))

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/stream"):
            raise httpx.ConnectError("refused")
        return httpx.Response(200, json=RUN)

    with client_of(httpx.MockTransport(answer)) as client, pytest.raises(Disconnected, match="there cannot be reached"):
        next(client.run("r1").follow(patience_s=250))


def test_a_writing_request_is_repeated_with_its_key(waits: list[float]) -> None:
    keys: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return httpx.Response(200, json=RUN)
        keys.append(request.headers["Idempotency-Key"])
        if len(keys) == 1:
            raise httpx.ReadTimeout("no answer")
        if len(keys) == 2:
            return httpx.Response(503, headers={"Retry-After": "5"}, json={"detail": "The disk is full."})
        return httpx.Response(202, json={"id": "c", "name": "pause"})

    with client_of(httpx.MockTransport(answer)) as client:
        run = client.run("r1")
        assert run.pause()["name"] == "pause"
        run.pause()
    assert (len(keys), len(set(keys[:3])), len(set(keys))) == (4, 1, 2)
    assert 5.0 in waits


def test_a_server_that_stays_unavailable_is_reported_with_its_sentence(waits: list[float]) -> None:
    broken = httpx.MockTransport(lambda request: httpx.Response(503, json={"detail": "The disk is full. Free some space."}))
    with client_of(broken) as client, pytest.raises(Unavailable, match="Free some space"):
        client.problem("x")
    assert len(waits) == transport.TRIES - 1


def test_an_answer_that_is_no_json_is_reported_with_its_status() -> None:
    broken = httpx.MockTransport(lambda request: httpx.Response(404, text="<html>"))
    with client_of(broken) as client, pytest.raises(NotFound, match="answered 404 without a reason"):
        client.problem("x")
