"""A run waits for a model as long as it takes; it continues without an unserved tool after a while."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from apps.processes.streams import fingerprint_of, heartbeat_publish
from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.domain.generation import GenerationRequest
from apps.runs.calls import dispatch, sending
from apps.runs.calls.dispatch import CeleryDispatcher
from tests.inference.conftest import a_request

pytestmark = pytest.mark.asyncio
QUEUES = {"sandbox": "inference.sandbox", "tested": "inference.tested"}
TOOL = a_request(alias="sandbox", job="python", text="print(1)")
CHECK = a_request(alias="sandbox", job="check_math", text="{}")
MODEL = a_request()


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch, valkey: Any) -> None:
    """Messages go nowhere, and patience is short."""
    monkeypatch.setattr(dispatch, "_TOOL_IS_AWAITED_S", 0.5)

    def keep(calls: Sequence[tuple[str, str]], queue: str, priority: int) -> None:
        return None

    monkeypatch.setattr(sending, "send_now", keep)


async def _answer(request: GenerationRequest, within_s: float = 4.0) -> str:
    """What the dispatcher says of the call within a while; empty where it still waits."""
    async with CeleryDispatcher("run", queues=QUEUES, is_recorded=lambda _: False) as dispatcher:
        waiting = asyncio.create_task(dispatcher.dispatch(request))
        await asyncio.wait([waiting], timeout=within_s)
        if not waiting.done():
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            return ""
        with pytest.raises(BackendRefused) as refused:
            waiting.result()
        return str(refused.value)


async def test_a_tool_call_without_a_worker_is_refused_with_what_to_do() -> None:
    assert "python -m workers.serve sandbox" in await _answer(TOOL)


async def test_a_check_of_formulas_is_given_up_sooner_because_the_end_of_the_run_waits_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dispatch, "_TOOL_IS_AWAITED_S", 60.0)
    monkeypatch.setattr(dispatch, "_CHECK_IS_AWAITED_S", 0.5)
    assert "No worker serves sandbox" in await _answer(CHECK)
    assert await _answer(TOOL, within_s=2.5) == ""


async def test_a_model_call_without_a_worker_waits() -> None:
    assert await _answer(MODEL, within_s=2.5) == ""


async def test_a_tool_call_that_a_worker_holds_is_waited_for(valkey: Any) -> None:
    active = [{"run": "run", "key": TOOL.key, "attempt": 1, "fingerprint": fingerprint_of(TOOL)}]
    beat: Any = {"worker": "w", "aliases": ["sandbox"], "active": active, "health": {}}
    heartbeat_publish(valkey, beat, 60_000)
    assert await _answer(TOOL, within_s=2.5) == ""


async def test_an_alias_that_has_no_queue_is_refused_at_once() -> None:
    elsewhere = a_request(alias="elsewhere", job="python", text="print(1)")
    assert "off in the settings" in await _answer(elsewhere, within_s=1.0)
