"""A worker's heartbeat lists its calls twice a second, even if an engine fails its health check or does not answer it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from apps.processes.streams import heartbeats
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Health
from apps.reasoning.inference.aliases import Alias, parse_aliases
from tests.inference.conftest import a_request
from workers import health
from workers.health import Checkup
from workers.host import EngineHost
from workers.running import HostOptions
from workers.worker import Worker

ALIASES = parse_aliases("".join(f'[{name}]\nbackend = "scripted"\noptions.script = "none"\n' for name in ("quick", "slow")))


class Ailing:
    """A backend that generates until it is aborted. Its health check runs `check`."""

    def __init__(self, check: Callable[[], Any]) -> None:
        self._check = check
        self._aborted = asyncio.Event()

    async def generate(self, request: GenerationRequest) -> AsyncIterator[Delta | Final]:
        await self._aborted.wait()
        yield Final(text="", finish_reason="cancelled")

    async def abort(self, call_id: str) -> None:
        self._aborted.set()

    async def health(self) -> Health:
        await self._check()
        return Health(state="ready")

    async def close(self) -> None:
        self._aborted.set()


async def _at_once() -> None:
    pass


async def _never() -> None:
    await asyncio.sleep(60)


async def _raise() -> None:
    raise KeyError("pages")


def _engines(slow: Callable[[], Any]) -> Callable[[Alias], Ailing]:
    return lambda alias: Ailing(slow if alias.name == "slow" else _at_once)


@pytest.mark.parametrize("slow", [_never, _raise])
def test_heartbeats_list_calls_even_if_an_engine_gives_no_health(valkey: Any, slow: Callable[[], Any]) -> None:
    worker = Worker(make_backend=_engines(slow), aliases=ALIASES)
    try:
        began = worker._begin(a_request(alias="slow"), "f")
        worker._active["call"] = (a_request(alias="slow"), "f")
        listed: list[bool] = []
        for _ in range(12):
            time.sleep(0.2)
            listed.append(any(beat["active"] for beat in heartbeats(valkey)))
        assert all(listed[4:]), listed
        assert not began.done()
    finally:
        worker.close()


def test_a_silent_engine_does_not_hide_the_others() -> None:
    host = EngineHost(ALIASES, make_backend=_engines(_never), options=HostOptions(health_patience_s=0.1))
    try:
        found = host.health()
        assert (found["quick"].state, found["slow"].state) == ("ready", "loading")
    finally:
        host.close()


def test_an_engine_whose_health_check_fails_is_down() -> None:
    host = EngineHost(ALIASES, make_backend=_engines(_raise))
    try:
        assert "KeyError: 'pages'" in host.health()["slow"].detail
    finally:
        host.close()


async def test_the_last_answer_remains_valid_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [Health(state="ready", running=3)]

    async def ask(engine: str) -> Health:
        if not answers:
            await asyncio.sleep(60)
        return answers.pop()

    checkup = Checkup(ask, patience_s=0.02)
    assert (await checkup.of(["slow", "slow"]))["slow"].running == 3, "an engine is asked once"
    assert (await checkup.of(["slow"]))["slow"].running == 3
    monkeypatch.setattr(health, "SILENT_S", 0.01)
    late = (await checkup.of(["slow"]))["slow"]
    assert late.state == "down"
    assert "No answer to health checks" in late.detail
