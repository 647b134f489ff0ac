"""A reopened page receives the calls that are running, at their current speed, and no others."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from apps.processes.streams import events_key, tokens_key
from apps.runs.live.tail import Hub

pytestmark = pytest.mark.asyncio
RUN = "0b7f9a52-0000-4000-8000-000000000001"


@pytest_asyncio.fixture
async def watching(valkey: Any) -> AsyncIterator[Hub]:
    """A hub whose reader is kept busy by a viewer of another run."""
    hub = Hub()
    await hub.subscribe("another-run")
    yield hub
    await hub.close()


def write(valkey: Any, call: str, total: int) -> None:
    valkey.xadd(tokens_key(RUN), {"call": call, "attempt": 1, "ch": "text", "off": 0, "text": "x", "n": total})


def end(valkey: Any, call: str, seq: int) -> None:
    event = {"seq": seq, "kind": "call.ended", "at": "2026-01-01T00:00:00+00:00", "body": {"call": call}}
    valkey.xadd(events_key(RUN), {"event": json.dumps(event)}, id=f"{seq}-0")


async def until_counted(hub: Hub, call: str) -> None:
    async with asyncio.timeout(5):
        while call not in hub.running(RUN):
            await asyncio.sleep(0.02)


async def test_calls_that_ended_while_unwatched_are_not_published(watching: Hub, valkey: Any) -> None:
    first = await watching.subscribe(RUN)
    await asyncio.sleep(0.1)
    write(valkey, "old", 10)
    await until_counted(watching, "old")
    watching.unsubscribe(first)
    for seq, call in enumerate(("a", "b", "c"), start=1):
        for total in (100, 200, 300):
            write(valkey, call, total)
        end(valkey, call, seq)
        await asyncio.sleep(0.05)
    assert watching.running(RUN) == {}
    await watching.subscribe(RUN)
    await asyncio.sleep(0.1)
    write(valkey, "new", 400)
    await until_counted(watching, "new")
    assert set(watching.running(RUN)) == {"new"}
    assert watching.running(RUN)["new"]["rate"] == 0, "the first word of a call says nothing of its speed"


async def test_an_unwatched_run_is_not_read(watching: Hub, valkey: Any) -> None:
    first = await watching.subscribe(RUN)
    await asyncio.sleep(0.1)
    watching.unsubscribe(first)
    write(valkey, "a", 1)
    await asyncio.sleep(0.1)
    write(valkey, "a", 2)
    await asyncio.sleep(0.1)
    assert tokens_key(RUN) not in watching._streams()
