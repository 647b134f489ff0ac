"""The HTTP backend with a real vLLM server: a call that ends here also ends on the server."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from apps.reasoning.domain.errors import DeadlineExceeded, RequestRejected
from apps.reasoning.domain.generation import Final
from apps.reasoning.inference.openai_http import NO_FUNCTIONS, OpenAIHttpBackend
from apps.reasoning.inference.streaming import read_to_final
from apps.reasoning.scaffolds.alpha_apollo.functions import FUNCTIONS
from tests.inference.conftest import a_request, served_alias
from tests.inference.vllm.vllm_here import VLLM, running_on, until

pytestmark = [*VLLM, pytest.mark.asyncio(loop_scope="session")]
STORY = "Tell a long story about a fox and a crow."


@pytest_asyncio.fixture(loop_scope="session")
async def backend(served_by_vllm: str) -> AsyncIterator[OpenAIHttpBackend]:
    backend = OpenAIHttpBackend(served_alias(served_by_vllm))
    yield backend
    await backend.close()


async def _is_idle(server: str, within_s: float) -> bool:
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        if await asyncio.to_thread(running_on, server) == 0:
            return True
        await asyncio.sleep(0.05)
    return False


async def test_a_cancelled_call_ends_on_the_server(backend: OpenAIHttpBackend, served_by_vllm: str) -> None:
    requests = [a_request(f"call/{number}", f"{STORY} {number}", max_new_tokens=1500) for number in range(4)]
    tasks: list[asyncio.Task[Final]] = [asyncio.create_task(read_to_final(backend, request)) for request in requests]

    async def all_are_running() -> bool:
        return await asyncio.to_thread(running_on, served_by_vllm) == 4

    await until(all_are_running, "the server generates all four calls", tasks)
    for request in requests:
        await backend.abort(request.call_id)
    assert {final.finish_reason for final in await asyncio.gather(*tasks)} == {"cancelled"}
    assert await _is_idle(served_by_vllm, 3.0)


async def test_a_deadline_ends_the_call_on_the_server(backend: OpenAIHttpBackend, served_by_vllm: str) -> None:
    with pytest.raises(DeadlineExceeded):
        await read_to_final(backend, a_request(text=STORY, max_new_tokens=1500, deadline_s=2.0))
    assert await _is_idle(served_by_vllm, 3.0)


async def test_the_server_reports_its_cached_tokens(backend: OpenAIHttpBackend) -> None:
    shared = "The lemma library of this run. " * 60
    await read_to_final(backend, a_request("first", shared + "One.", max_new_tokens=2))
    second = await read_to_final(backend, a_request("second", shared + "Two.", max_new_tokens=2))
    assert 0 < second.usage.cached < second.usage.prompt


async def test_a_prompt_beyond_the_context_is_rejected_with_its_reason(backend: OpenAIHttpBackend) -> None:
    with pytest.raises(RequestRejected, match="longer than the context of served"):
        await read_to_final(backend, a_request(text="word " * 2500))


async def test_an_answer_that_would_exceed_the_context_is_requested_shorter(backend: OpenAIHttpBackend) -> None:
    """The server refuses the first request before it generates anything, so the request can be repeated."""
    final = await read_to_final(backend, a_request(text="word " * 1900 + STORY, max_new_tokens=2000, deadline_s=300))
    assert final.usage.prompt + final.usage.completion <= 2048


async def test_a_server_without_a_tool_parser_gets_no_functions(backend: OpenAIHttpBackend) -> None:
    final = await read_to_final(backend, a_request(text=STORY, tools=FUNCTIONS))
    assert final.text
    assert NO_FUNCTIONS in (await backend.health()).detail
