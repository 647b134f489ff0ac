"""An open socket is closed when its session ends, its person may no longer see runs, or the account is switched off."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import redis
from channels.db import database_sync_to_async
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from apps.accounts.models import Role, User
from apps.runs.live import consumers
from apps.runs.live import reads as live_reads
from apps.runs.live.tail import hub
from tests.runs.factory import make_run
from tests.sockets import RunSocket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
async def _hub_is_closed() -> AsyncIterator[None]:
    yield
    await hub().close()


async def opened(user: User) -> RunSocket:
    run = await database_sync_to_async(make_run)()
    socket = RunSocket(run, user)
    await socket.connect()
    await socket.frame("state")
    return socket


async def code_after(socket: RunSocket) -> int:
    """The code with which the server closes, after whatever it still sends."""
    while True:
        message = await socket.receive_output(10)  # type: ignore[no-untyped-call]
        if message["type"] == "websocket.close":
            await socket.disconnect()
            return int(message["code"])


async def test_signing_out_closes_the_sockets_of_the_session_at_once(valkey: "redis.Redis", alice: User) -> None:
    socket, other = await opened(alice), await opened(alice)
    await database_sync_to_async(socket.browser.post)(reverse("accounts:logout"))
    assert await code_after(socket) == 4401
    assert (await other.frame("state"))["t"] == "state"
    await other.disconnect()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"is_active": False}, 4401),
        ({"password": "!another"}, 4401),
        ({"role": Role.STUDENT}, 4404),
    ],
)
async def test_who_may_no_longer_watch_is_found_out_within_a_minute(
    valkey: "redis.Redis", alice: User, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], code: int
) -> None:
    monkeypatch.setattr(consumers, "ADMIT_S", 0.5)
    socket = await opened(alice)
    await User.objects.filter(pk=alice.pk).aupdate(**change)
    assert await code_after(socket) == code


async def test_a_viewer_with_access_keeps_the_socket(
    valkey: "redis.Redis", alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "ADMIT_S", 0.1)
    socket = await opened(alice)
    for _ in range(2):
        assert (await socket.frame("state"))["t"] == "state"
    await socket.disconnect()


async def test_a_socket_that_cannot_continue_is_closed_instead_of_falling_silent(
    valkey: "redis.Redis", alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(run: object) -> dict[str, Any]:
        raise OperationalError("database is locked")

    socket = await opened(alice)
    monkeypatch.setattr(live_reads, "state", locked)
    assert await code_after(socket) == 1011


async def test_a_session_that_is_gone_opens_no_socket(valkey: "redis.Redis", alice: User) -> None:
    run = await database_sync_to_async(make_run)()
    socket = RunSocket(run, alice)
    await socket.connect()
    session = await database_sync_to_async(lambda: socket.browser.session)()
    await database_sync_to_async(session.flush)()
    again = RunSocket(run, alice)
    again._sign_in = lambda: session  # type: ignore[method-assign]
    await again.connect()
    assert await code_after(again) == 4401
    await socket.disconnect()


def test_signing_out_while_redis_is_away_works_all_the_same(alice: User) -> None:
    client = Client()
    client.force_login(alice)
    assert client.post(reverse("accounts:logout")).status_code == 302
