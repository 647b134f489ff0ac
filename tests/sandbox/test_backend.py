"""The sandbox as a backend: the contract of tests/inference/test_backend_contract.py as far as it applies to code."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from django.conf import settings

from apps.reasoning.domain.errors import BackendRefused, DeadlineExceeded, EngineLost, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest
from apps.reasoning.inference.aliases import load_served
from tests.inference.conftest import a_request as a_call
from tests.sandbox.conftest import needed
from workers.host import EngineHost
from workers.sandbox.backend import LONGEST_CODE, SandboxBackend
from workers.sandbox.execution import Execution, Limits
from workers.sandbox.probe import probe
from workers.sandbox.sandbox import SandboxOptions

pytestmark = pytest.mark.asyncio(loop_scope="module")


def a_request(key: str = "call", text: str = "print(1)", **fields: object) -> GenerationRequest:
    return a_call(key, text, **{"job": "python", **fields})  # type: ignore[arg-type]


FOR_EVER = "print('begun', flush=True)\nwhile True: pass"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def backend() -> AsyncIterator[SandboxBackend]:
    needed(await probe())
    made = SandboxBackend(SandboxOptions(warm=1, at_once=4, libraries=(), limits=Limits(wall_s=30)))
    yield made
    await made.close()


async def _read(backend: SandboxBackend, request: GenerationRequest) -> Final:
    items: list[Delta | Final] = [item async for item in backend.generate(request)]
    assert len(items) == 1, "there is only the result"
    assert isinstance(items[0], Final)
    return items[0]


async def _until_it_runs(backend: SandboxBackend) -> None:
    for _ in range(1000):
        if (await backend.health()).running:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("the code does not run")


async def test_the_answer_is_the_json_of_an_execution(backend: SandboxBackend) -> None:
    final = await _read(backend, a_request(text="print(2**10)"))
    execution = Execution.model_validate_json(final.text)
    assert (execution.stdout, execution.error, execution.exit_code) == ("1024\n", "", 0)
    assert final.finish_reason == "stop"
    assert 0 < execution.duration_s <= final.duration_s
    assert "sympy" in final.model_revision


async def test_failing_code_is_a_result_and_not_an_error(backend: SandboxBackend) -> None:
    execution = Execution.model_validate_json((await _read(backend, a_request(text="1/0"))).text)
    assert execution.error == "exception"
    assert "ZeroDivisionError" in execution.stderr


async def test_the_limit_of_the_sandbox_is_a_result(backend: SandboxBackend) -> None:
    short = SandboxBackend(SandboxOptions(warm=0, at_once=1, libraries=(), limits=Limits(wall_s=0.5)))
    execution = Execution.model_validate_json((await _read(short, a_request(text=FOR_EVER))).text)
    await short.close()
    assert (execution.error, execution.stdout) == ("timeout", "begun\n")


async def test_the_deadline_of_the_request_stops_the_code(backend: SandboxBackend) -> None:
    with pytest.raises(DeadlineExceeded):
        await _read(backend, a_request(text=FOR_EVER, deadline_s=0.5))
    assert (await backend.health()).running == 0


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"n": 2}, "completions"),
        ({"job": "generate"}, "a text"),
        ({"job": "check_math"}, "malformed"),
        ({"job": "check_math", "text": '{"texts": []}'}, "at least one text"),
        ({"job": "check_math", "text": '{"texts": [{"id": "a", "text": "b"}], "time_s": 601}'}, "time_s"),
        ({"json_schema": {"type": "object"}}, "schema"),
        ({"stop": ("x",)}, "stop"),
        ({"prompt_ids": (1, 2)}, "tokens"),
        ({"capture": True}, "capture"),
        ({"text": " \n"}, "no code"),
        ({"text": "#" * (LONGEST_CODE + 1)}, "characters"),
    ],
)
async def test_requests_that_need_a_model_are_rejected(backend: SandboxBackend, fields: dict[str, object], error: str) -> None:
    with pytest.raises(RequestRejected, match=error):
        await _read(backend, a_request(**{"text": "print(1)", **fields}))  # type: ignore[arg-type]


async def test_an_abort_ends_the_code_and_the_stream(backend: SandboxBackend) -> None:
    request = a_request("aborted", FOR_EVER)
    reading = asyncio.create_task(_read(backend, request))
    await _until_it_runs(backend)
    await backend.abort(request.call_id)
    final = await asyncio.wait_for(reading, 10)
    assert (final.finish_reason, final.text) == ("cancelled", "")
    assert (await backend.health()).running == 0


async def test_an_abort_of_an_unknown_call_is_ignored(backend: SandboxBackend) -> None:
    await backend.abort("no/such#1")


async def test_cancelling_the_reader_ends_the_code(backend: SandboxBackend) -> None:
    reading = asyncio.create_task(_read(backend, a_request(text=FOR_EVER)))
    await _until_it_runs(backend)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert (await backend.health()).running == 0


async def test_twelve_concurrent_calls_each_get_their_own_answer(backend: SandboxBackend) -> None:
    finals = await asyncio.gather(*(_read(backend, a_request(f"call/{n}", f"print({n}**2)")) for n in range(12)))
    assert [Execution.model_validate_json(final.text).stdout for final in finals] == [f"{n**2}\n" for n in range(12)]


async def test_health_names_the_fence_and_what_runs(backend: SandboxBackend) -> None:
    reading = asyncio.create_task(_read(backend, a_request("watched", FOR_EVER)))
    await _until_it_runs(backend)
    health = await backend.health()
    await backend.abort(a_request("watched").call_id)
    await reading
    assert (health.state, health.running) == ("ready", 1)
    assert "behind" in health.detail
    assert health.detail.endswith(".")


async def test_without_a_fence_nothing_runs_and_the_reason_is_given() -> None:
    off = SandboxBackend(SandboxOptions(level="off"))
    assert (await off.health()).state == "down"
    with pytest.raises(BackendRefused, match="Code execution is off"):
        await _read(off, a_request(text="print(1)"))
    await off.close()


async def test_closing_ends_running_code_and_returns_the_call(backend: SandboxBackend) -> None:
    closed = SandboxBackend(SandboxOptions(warm=0, at_once=1, libraries=()))
    reading = asyncio.create_task(_read(closed, a_request(text=FOR_EVER)))
    await _until_it_runs(closed)
    await closed.close()
    with pytest.raises(EngineLost):
        await asyncio.wait_for(reading, 10)


async def test_a_host_can_start_a_sandbox(backend: SandboxBackend) -> None:
    """A host has its own event loop, and not every loop can start child processes as another user."""
    tools = {name: alias for name, alias in load_served(settings.MODELS_FILE).items() if alias.is_tool}
    host = EngineHost(tools, make_backend=lambda _: SandboxBackend(SandboxOptions(warm=1, at_once=1, libraries=())))
    try:
        final = await asyncio.to_thread(host.run, a_request("hosted", "print(6 * 7)", alias=next(iter(tools))))
    finally:
        await asyncio.to_thread(host.close)
    assert Execution.model_validate_json(final.text).stdout == "42\n"
