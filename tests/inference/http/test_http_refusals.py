"""Each way a model server can refuse a call: the error message, and whether the call is repeated."""

import json
import socket
import time

import pytest

from apps.reasoning.domain.errors import BackendError, BackendRefused, BackendUnavailable, EngineLost, RequestRejected
from apps.reasoning.domain.generation import Final
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from tests.inference.conftest import a_request
from tests.inference.http.fake_server import Canned, FakeModelServer

VLLM_TOO_LONG = (
    "'max_tokens' or 'max_completion_tokens' is too large: 40. This model's maximum context length is 50 tokens "
    "and your request has 33 input tokens (40 > 50 - 33)."
)


def _alias(base_url: str, **table: object) -> Alias:
    plain = {"name": "served", "title": "", "backend": "openai_http", "model": "fake-model", "base_url": base_url}
    return Alias.model_validate(plain | {"options": {"retries": 2}} | table)


async def _final(alias: Alias, wait_scale: float = 0.01) -> Final:
    backend = OpenAIHttpBackend(alias, wait_scale=wait_scale)
    try:
        async for item in backend.generate(a_request()):
            if isinstance(item, Final):
                return item
    finally:
        await backend.close()
    raise AssertionError("no result")


def _refusal(status: int, message: str = "", **headers: str) -> Canned:
    body = json.dumps({"error": {"message": message}}).encode() if message else b""
    return Canned(status=status, body=(body,), content_type="application/json", headers=headers)


@pytest.mark.parametrize(
    ("status", "message", "error", "sentence"),
    [
        (401, "Invalid API key", BackendRefused, "MY_KEY"),
        (403, "Forbidden", BackendRefused, "refused the key"),
        (404, "The model `fake-model` does not exist.", BackendRefused, "does not know the model fake-model"),
        (400, "model 'fake-model' not found, try pulling it first", BackendRefused, "does not know the model"),
        (400, "This model's maximum context length is 10 tokens.", RequestRejected, "longer than the context"),
        (413, "prompt is too long", RequestRejected, "longer than the context"),
        (400, "temperature must be at most 1", RequestRejected, "temperature must be at most 1"),
        (429, "insufficient_quota: you have no credit", BackendRefused, "no credit"),
        (301, "", BackendRefused, "final address"),
        (500, "assertion failed", EngineLost, "assertion failed"),
    ],
)
async def test_a_refusal_is_explained_and_not_repeated(
    model_server: FakeModelServer, status: int, message: str, error: type[BackendError], sentence: str
) -> None:
    model_server.next_answers.append(_refusal(status, message))
    with pytest.raises(error, match=sentence):
        await _final(_alias(model_server.base_url, api_key_env="MY_KEY"))
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_a_call_to_a_busy_server_is_retried(model_server: FakeModelServer, status: int) -> None:
    model_server.next_answers.extend([_refusal(status, "busy"), _refusal(status, "busy")])
    assert (await _final(_alias(model_server.base_url))).text
    assert len(model_server.requests) == 3


async def test_a_call_to_a_server_that_stays_busy_fails_after_the_retries(model_server: FakeModelServer) -> None:
    model_server.next_answers.extend([_refusal(429, "slow down")] * 3)
    with pytest.raises(BackendUnavailable, match=r"Lower the concurrency.*slow down"):
        await _final(_alias(model_server.base_url))
    assert len(model_server.requests) == 3


async def test_the_retry_waits_as_long_as_the_server_demands(model_server: FakeModelServer) -> None:
    model_server.next_answers.append(_refusal(429, "busy", **{"retry-after": "30"}))
    began = time.monotonic()
    await _final(_alias(model_server.base_url), wait_scale=0.01)
    assert 0.3 <= time.monotonic() - began < 2.0


async def test_a_token_limit_beyond_the_context_is_reduced_once(model_server: FakeModelServer) -> None:
    model_server.next_answers.append(_refusal(400, VLLM_TOO_LONG))
    final = await _final(_alias(model_server.base_url))
    assert [request["max_tokens"] for request in model_server.requests] == [40, 17]
    assert final.finish_reason == "length"


async def test_a_closed_port_is_reported_after_a_few_tries() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(BackendUnavailable, match="Nothing answers at") as caught:
            await _final(_alias(address))
    assert caught.value.fatal_for_run


async def test_an_unknown_host_is_reported() -> None:
    with pytest.raises(BackendUnavailable, match=r"not known|Nothing answers"):
        await _final(_alias("http://no-such-host.invalid:8000/v1"))


async def test_a_broken_tls_connection_is_reported(model_server: FakeModelServer) -> None:
    with pytest.raises(BackendRefused, match="TLS"):
        await _final(_alias(model_server.base_url.replace("http:", "https:")))


async def test_health_distinguishes_a_ready_server_a_wrong_model_and_a_dead_server(model_server: FakeModelServer) -> None:
    for base_url, model, state, sentence in (
        (model_server.base_url, "fake-model", "ready", "fake-model at"),
        (model_server.base_url, "other", "down", "it has fake-model"),
        ("http://127.0.0.1:9/v1", "fake-model", "down", "Nothing answers"),
    ):
        backend = OpenAIHttpBackend(_alias(base_url, model=model))
        health = await backend.health()
        await backend.close()
        assert health.state == state
        assert sentence in health.detail
