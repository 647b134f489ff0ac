"""Requests of the HTTP backend, and its reading of answers from servers that differ in detail."""

import asyncio
import json
import time

import pytest

from apps.reasoning.domain.errors import EngineLost, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from apps.reasoning.inference.streaming import read_to_final
from tests.inference.conftest import a_request, http_backend
from tests.inference.http.fake_server import Canned, FakeModelServer, piece, sse


async def _items(backend: OpenAIHttpBackend, request: GenerationRequest | None = None) -> list[Delta | Final]:
    try:
        return [item async for item in backend.generate(request or a_request())]
    finally:
        await backend.close()


async def _final(backend: OpenAIHttpBackend, request: GenerationRequest | None = None) -> Final:
    last = (await _items(backend, request))[-1]
    assert isinstance(last, Final)
    return last


async def test_the_request_contains_model_sampling_seed_stop_schema_and_key(model_server: FakeModelServer) -> None:
    schema = {"type": "object"}
    request = a_request(temperature=0.6, top_p=0.9, max_new_tokens=11, stop=("END",), seed=2**31 + 5, json_schema=schema)
    await _final(http_backend(model_server, api_key="secret"), request)
    sent = model_server.requests[0]
    assert sent["model"] == "fake-model"
    assert sent["messages"] == [{"role": "user", "content": "Say hello."}]
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"], sent["seed"]) == (0.6, 0.9, 11, 5)
    assert sent["stop"] == ["END"]
    assert sent["stream_options"] == {"include_usage": True}
    assert sent["response_format"]["json_schema"] == {"name": "answer", "schema": schema, "strict": True}
    assert model_server.headers[0]["authorization"] == "Bearer secret"


async def test_options_adapt_the_request_to_a_service(model_server: FakeModelServer) -> None:
    options = {
        "max_tokens_field": "max_completion_tokens",
        "stream_usage": False,
        "send_seed": False,
        "send_sampling": False,
        "structured_output": "json_object",
        "extra_body": {"reasoning_effort": "high"},
    }
    await _final(http_backend(model_server, options=options), a_request(json_schema={"type": "object"}))
    sent = model_server.requests[0]
    assert sent["max_completion_tokens"] == 40
    assert sent["reasoning_effort"] == "high"
    assert sent["response_format"] == {"type": "json_object"}
    assert not {"max_tokens", "stream_options", "seed", "temperature", "top_p"} & set(sent)
    assert "authorization" not in model_server.headers[0]


async def test_a_proxy_gets_role_and_key_of_each_call_if_the_alias_says_so(model_server: FakeModelServer) -> None:
    options = {"call_header": "X-Call"}
    await _final(http_backend(model_server, options=options), a_request(role="verifier", key="s0.7/vote é2"))
    await _final(http_backend(model_server, options=options), a_request(role="verifier", key="k" * 300))
    await _final(http_backend(model_server), a_request())
    sent = [headers.get("x-call") for headers in model_server.headers]
    assert sent == ["verifier:s0.7.vote..2", f"verifier:{'k' * 119}", None]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_has_its_own_channel(model_server: FakeModelServer, name: str) -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 7,
        "completion_tokens_details": {"reasoning_tokens": 4},
        "prompt_tokens_details": {"cached_tokens": 8},
    }
    thoughts = (piece(role="assistant"), piece(**{name: "Let me "}), piece(**{name: "see."}))
    body = sse(*thoughts, piece("Yes."), piece(finish="stop"), {"choices": [], "usage": usage}, "[DONE]")
    model_server.next_answers.append(Canned(body=(body,)))
    items = await _items(http_backend(model_server))
    final = items[-1]
    assert isinstance(final, Final)
    assert (final.reasoning, final.text) == ("Let me see.", "Yes.")
    assert final.usage.model_dump() == {"prompt": 9, "cached": 8, "completion": 7, "reasoning": 4}


async def test_reasoning_between_tags_is_split_off_if_the_alias_says_so(model_server: FakeModelServer) -> None:
    body = sse(piece("<thi"), piece("nk>Hm"), piece(".</think>\n\nYes"), piece("."), piece(finish="stop"), "[DONE]")
    model_server.next_answers.append(Canned(body=(body,)))
    final = await _final(http_backend(model_server, reasoning_tags=("<think>", "</think>")))
    assert (final.reasoning, final.text) == ("Hm.", "Yes.")
    assert final.usage.reasoning > 0


async def test_without_usage_chunks_are_counted(model_server: FakeModelServer) -> None:
    body = sse(piece("One"), piece(" two"), piece(finish="length"))
    model_server.next_answers.append(Canned(body=(body,)))
    final = await _final(http_backend(model_server))
    assert final.finish_reason == "length"
    assert final.usage.completion == 2
    assert final.usage.prompt > 0


async def test_comments_odd_chunk_borders_and_several_data_lines_are_read(model_server: FakeModelServer) -> None:
    body = (
        b": ping\n\n"
        + sse(piece("Voil\u00e0 "))
        + b"event: x\ndata: "
        + json.dumps(piece("\u2211!", finish="stop")).encode()
        + b"\n\n"
    )
    cuts = tuple(body[start : start + 7] for start in range(0, len(body), 7))
    model_server.next_answers.append(Canned(body=cuts))
    assert (await _final(http_backend(model_server))).text == "Voilà ∑!"


async def test_uncounted_tokens_of_shared_chunks_are_added_at_the_end(model_server: FakeModelServer) -> None:
    """A busy vLLM sends two tokens in one chunk. The counts of the pieces still add up to that of the result."""
    usage = {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 7}}
    model_server.next_answers.append(
        Canned(body=(sse(piece("Two at"), piece(" once."), piece(finish="stop"), usage, "[DONE]"),))
    )
    *deltas, final = await _items(http_backend(model_server))
    assert isinstance(final, Final)
    assert [delta.tokens for delta in deltas if isinstance(delta, Delta)] == [1, 1, 5]
    assert final.usage.completion == 7


async def test_a_server_that_does_not_stream_is_read_whole(model_server: FakeModelServer) -> None:
    answer = {"choices": [{"message": {"content": "Whole."}, "finish_reason": "stop"}], "usage": {"completion_tokens": 3}}
    model_server.next_answers.append(Canned(body=(json.dumps(answer).encode(),), content_type="application/json"))
    final = await _final(http_backend(model_server))
    assert (final.text, final.usage.completion) == ("Whole.", 3)


async def test_a_broken_stream_is_retryable_only_before_its_first_piece(
    model_server: FakeModelServer,
) -> None:
    model_server.next_answers.append(Canned(body=(sse(piece("Half")),), cut=True))
    with pytest.raises(EngineLost) as after_a_piece:
        await _final(http_backend(model_server))
    assert not after_a_piece.value.retryable
    model_server.next_answers.append(Canned(body=(sse(piece(role="assistant")),)))
    with pytest.raises(EngineLost, match="without a result") as before_any:
        await _final(http_backend(model_server))
    assert before_any.value.retryable


async def test_text_that_is_not_json_is_reported(model_server: FakeModelServer) -> None:
    model_server.next_answers.append(Canned(body=(b"data: <html>oops\n\n",)))
    with pytest.raises(EngineLost, match="not JSON"):
        await _final(http_backend(model_server))


async def test_an_error_inside_the_stream_is_reported(model_server: FakeModelServer) -> None:
    model_server.next_answers.append(Canned(body=(sse({"error": {"message": "CUDA out of memory"}}),)))
    with pytest.raises(EngineLost, match="CUDA out of memory"):
        await _final(http_backend(model_server))


async def test_a_content_filter_is_a_rejection(model_server: FakeModelServer) -> None:
    model_server.next_answers.append(Canned(body=(sse(piece("No"), piece(finish="content_filter")),)))
    with pytest.raises(RequestRejected, match="content filter"):
        await _final(http_backend(model_server))


@pytest.mark.parametrize("pieces", [0, 3])
async def test_an_abort_closes_the_connection_before_and_after_the_first_piece(
    model_server: FakeModelServer, pieces: int
) -> None:
    model_server.pause_s, model_server.words = 0.05, 400
    backend = http_backend(model_server)
    request = a_request(text="Fox", max_new_tokens=400)
    seen: list[Delta] = []
    call = asyncio.create_task(read_to_final(backend, request, seen.append))
    while not model_server.running or len(seen) < pieces:
        await asyncio.sleep(0.005)
    await backend.abort(request.call_id)
    assert (await call).finish_reason == "cancelled"
    until = time.monotonic() + 1.0
    while model_server.running and time.monotonic() < until:
        await asyncio.sleep(0.01)
    assert model_server.disconnects == 1
    await backend.close()


async def test_an_abort_repeated_while_the_connection_closes_does_not_keep_it_open(
    model_server: FakeModelServer,
) -> None:
    """A worker repeats aborts with every heartbeat."""
    model_server.pause_s, model_server.words = 0.05, 400
    backend = http_backend(model_server)
    request = a_request(text="Fox", max_new_tokens=400)
    call = asyncio.create_task(read_to_final(backend, request))
    async with asyncio.timeout(10):
        while not model_server.running:
            await asyncio.sleep(0.005)
    for _ in range(5):
        await backend.abort(request.call_id)
        await asyncio.sleep(0)
    assert (await call).finish_reason == "cancelled"
    async with asyncio.timeout(2):
        while model_server.running:
            await asyncio.sleep(0.01)
    assert model_server.disconnects == 1
    await backend.close()


async def test_a_closed_stream_closes_the_connection(model_server: FakeModelServer) -> None:
    model_server.pause_s = 0.02
    backend = http_backend(model_server)
    stream = backend.generate(a_request())
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]
    while not model_server.disconnects:
        await asyncio.sleep(0.01)
    assert model_server.running == 0
    await backend.close()
