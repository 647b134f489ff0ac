"""The stream of a run: events without gaps as they come, until the run has ended, and who may follow."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
import redis
from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from django.core.asgi import get_asgi_application
from django.test import Client

from apps.accounts.models import ApiToken, User
from apps.config.api import streaming
from apps.runs.live import following
from apps.runs.live.tail import hub
from apps.runs.models import Run, RunStatus
from tests.runs.factory import make_run
from tests.runs.test_a_page_misses_no_event import add_events

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
async def _hub_is_closed() -> AsyncIterator[None]:
    yield
    await hub().close()


class Stream(ApplicationCommunicator):
    """A request for the stream of a run through the ASGI application."""

    def __init__(self, run: Run, header: tuple[bytes, bytes], query: str = "", last: str = "") -> None:
        headers = [(b"host", b"localhost"), header]
        headers += [(b"last-event-id", last.encode())] if last else []
        path = f"/api/v1/runs/{run.public_id}/stream"
        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": headers}
        super().__init__(get_asgi_application(), scope)
        self._text = ""

    async def begin(self) -> int:
        """Send the request; return the status."""
        await self.send_input({"type": "http.request", "body": b""})
        return int((await self.receive_output(10))["status"])

    async def frame(self) -> dict[str, str]:
        """The next event with its fields; empty at the end of the stream. Comments are left out."""
        async with asyncio.timeout(10):
            while True:
                head, blank, rest = self._text.partition("\n\n")
                if blank:
                    self._text = rest
                    if not head.startswith(":"):
                        return dict(line.split(": ", 1) for line in head.split("\n"))
                    continue
                message = await self.receive_output(10)
                self._text += message.get("body", b"").decode()
                if not message.get("more_body"):
                    return {}

    async def body(self) -> Any:
        """The JSON of an answer that is no stream."""
        return json.loads((await self.receive_output(10))["body"])

    async def close(self) -> None:
        await self.send_input({"type": "http.disconnect"})
        await self.wait(10)


@asynccontextmanager
async def following_run(run: Run, user: User, *, query: str = "", last: str = "") -> AsyncIterator[tuple[Stream, int]]:
    """A stream of `run` with a token of `user`, and the status of the answer."""
    _, token = await database_sync_to_async(ApiToken.issue)(user, "test")
    stream = Stream(run, (b"authorization", f"Bearer {token}".encode()), query, last)
    status = await stream.begin()
    try:
        yield stream, status
    finally:
        await stream.close()


async def with_events(count: int, status: RunStatus = RunStatus.RUNNING, **values: Any) -> Run:
    def made() -> Run:
        run = make_run(**values)
        add_events(run, count, None)
        Run.objects.filter(pk=run.pk).update(status=status)
        return run

    run: Run = await database_sync_to_async(made)()
    return run


async def newest_of(run: Run) -> int:
    await database_sync_to_async(run.refresh_from_db)()
    return run.last_seq


async def numbers(stream: Stream, count: int) -> list[int]:
    return [int((await stream.frame())["id"]) for _ in range(count)]


async def test_recorded_events_come_first_and_new_ones_as_they_are_recorded(valkey: "redis.Redis", alice: User) -> None:
    run = await with_events(3)
    newest = await newest_of(run)
    async with following_run(run, alice) as (stream, status):
        assert (status, await numbers(stream, newest)) == (200, list(range(1, newest + 1)))
        await database_sync_to_async(add_events)(run, 2, valkey)
        frame = await stream.frame()
        assert (frame["id"], frame["event"]) == (str(newest + 1), "round.began")
        assert json.loads(frame["data"])["seq"] == newest + 1
        assert await numbers(stream, 1) == [newest + 2]


async def test_events_come_without_redis_too(valkey: "redis.Redis", alice: User) -> None:
    run = await with_events(1)
    newest = await newest_of(run)
    async with following_run(run, alice, query=f"after={newest}") as (stream, _):
        await database_sync_to_async(add_events)(run, 1, None)
        assert await numbers(stream, 1) == [newest + 1]


@pytest.mark.parametrize(("query", "last"), [("after=2", ""), ("after=0", "2")])
async def test_a_reconnected_stream_continues_after_the_last_event(
    query: str, last: str, valkey: "redis.Redis", alice: User
) -> None:
    run = await with_events(5, RunStatus.FINISHED)
    async with following_run(run, alice, query=query, last=last) as (stream, _):
        assert (await numbers(stream, 3))[0] == 3


async def test_the_stream_ends_with_the_run(valkey: "redis.Redis", alice: User) -> None:
    run = await with_events(2, RunStatus.FINISHED)
    newest = await newest_of(run)
    async with following_run(run, alice, query=f"after={newest}") as (stream, _):
        end = await stream.frame()
        assert (end["event"], json.loads(end["data"])["status"]) == ("end", "finished")
        assert await stream.frame() == {}


async def test_a_comment_shows_that_the_connection_lives(
    valkey: "redis.Redis", alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "BEAT_S", 0.1)
    run = await with_events(0)
    async with following_run(run, alice, query=f"after={await newest_of(run)}") as (stream, _):
        for _ in range(2):
            assert (await stream.receive_output(10))["body"] == b": beat\n\n"


async def test_a_revoked_token_ends_the_stream(valkey: "redis.Redis", alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "ADMIT_S", 0.1)
    run = await with_events(0)
    async with following_run(run, alice, query=f"after={await newest_of(run)}") as (stream, status):
        await database_sync_to_async(ApiToken.objects.all().delete)()
        assert (status, await stream.frame()) == (200, {})


async def test_streams_hold_no_threads(valkey: "redis.Redis", alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "STREAMS_AT_MOST", 50)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(4))
    run = await with_events(1)
    async with AsyncExitStack() as stack:
        counts = []
        for _ in range(25):
            stream, status = await stack.enter_async_context(following_run(run, alice))
            assert (status, await numbers(stream, 1)) == (200, [1])
            counts.append(threading.active_count())
        await asyncio.sleep(0.2)
        assert threading.active_count() - counts[4] < 5
        await database_sync_to_async(add_events)(run, 1, valkey)
        assert await numbers(stream, 1) == [2]


async def test_a_browser_follows_until_it_signs_out(
    valkey: "redis.Redis", alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "ADMIT_S", 0.1)
    run, browser = await with_events(1), Client()
    await database_sync_to_async(browser.force_login)(alice)
    cookie = f"sessionid={browser.cookies['sessionid'].value}".encode()
    stream = Stream(run, (b"cookie", cookie))
    assert (await stream.begin(), await numbers(stream, 1)) == (200, [1])
    await database_sync_to_async(browser.logout)()
    while await stream.frame():
        pass
    await stream.close()


async def test_a_student_and_a_wrong_number_are_refused(valkey: "redis.Redis", alice: User, charlie: User) -> None:
    run = await with_events(2)
    async with following_run(run, charlie) as (_, status):
        assert status == 404
    async with following_run(run, alice, last="99") as (stream, status):
        assert status == 409
        assert "begin with after=0" in (await stream.body())["detail"]
    async with following_run(run, alice, last="x") as (_, status):
        assert status == 422


async def test_a_user_follows_a_limited_number_of_runs_at_once(
    valkey: "redis.Redis", alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "STREAMS_AT_MOST", 1)
    run = await with_events(1)
    async with following_run(run, alice) as (first, status):
        await first.frame()
        assert status == 200
        async with following_run(run, alice) as (second, refused):
            assert refused == 429
            assert "Close another stream first." in (await second.body())["detail"]
        async with following_run(run, bob) as (_, status):
            assert status == 200
    async with following_run(run, alice) as (_, status):
        assert status == 200, "the place of the closed stream is free again"
    assert not +streaming._open
