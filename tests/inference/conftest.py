"""Fixtures for tests of inference: requests, a fake model server in a thread, and the real engine, loaded once."""

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
import uvicorn

from apps.reasoning.domain.generation import GenerationRequest, Message, Sampling
from apps.reasoning.inference.aliases import Alias, load_aliases, parse_aliases
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from tests.inference.http.fake_server import FakeModelServer
from tests.inference.vllm.vllm_here import LOADED_WITHIN_S, alias_with_adapters, vllm_server
from workers.engines.openvino import OpenVinoBackend
from workers.engines.vllm import VllmBackend

# Keys and values from the cache, or from another batch, differ in the last bits, which may change a nearly tied token. In
# SmolLM2's answer to this prompt the first choice leads by 0.8 in log-odds (32 bits); in a story it leads by 0.07.
SURE_PROMPT = "What are the names of the seven days of the week, from Monday to Sunday?"
MODELS = Path(__file__).resolve().parents[2] / "apps" / "config" / "models.toml"
_SAMPLING = ("temperature", "top_p", "max_new_tokens", "stop")


def a_request(key: str = "call", text: str = "Say hello.", *, alias: str = "tested", **fields: object) -> GenerationRequest:
    """A request with sampling fields and request fields by name."""
    sampling = {name: fields.pop(name) for name in _SAMPLING if name in fields}
    body = {
        "run": "run",
        "key": key,
        "role": "tester",
        "alias": alias,
        "messages": (Message(role="user", content=text),),
        "sampling": Sampling.model_validate({"temperature": 0, "max_new_tokens": 40} | sampling),
        "deadline_s": 60.0,
    }
    return GenerationRequest.model_validate(body | fields)


def smollm2() -> Alias:
    """SmolLM2 on OpenVINO, as shipped."""
    return load_aliases(MODELS)["smollm2"]


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def openvino() -> AsyncIterator[OpenVinoBackend]:
    """SmolLM2 on OpenVINO, loaded once for a module."""
    backend = OpenVinoBackend(smollm2())
    yield backend
    await backend.close()


def http_backend(server: FakeModelServer, *, api_key: str = "", **table: object) -> OpenAIHttpBackend:
    """A backend for the fake server, with further keys of its alias."""
    fields = {"name": "served", "title": "", "backend": "openai_http", "model": "fake-model", "options": {}}
    alias = Alias.model_validate(fields | {"base_url": server.base_url} | table)
    return OpenAIHttpBackend(alias, api_key=api_key, wait_scale=0.01)


@contextlib.contextmanager
def running_server(app: FakeModelServer | None = None) -> Iterator[FakeModelServer]:
    """A new or given fake model server on a free port of this machine."""
    app = app or FakeModelServer()
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    app.port = server.servers[0].sockets[0].getsockname()[1]
    yield app
    server.should_exit = True
    thread.join(timeout=10)


@pytest.fixture
def model_server() -> Iterator[FakeModelServer]:
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def module_model_server() -> Iterator[FakeModelServer]:
    with running_server() as server:
        yield server


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def vllm_not_loaded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[VllmBackend]:
    """vLLM with SmolLM2, shared by all tests, because it loads for most of a minute."""
    backend = VllmBackend(alias_with_adapters("tested", tmp_path_factory.mktemp("adapters")))
    yield backend
    await backend.close()


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def vllm(vllm_not_loaded: VllmBackend) -> VllmBackend:
    async with asyncio.timeout(LOADED_WITHIN_S):
        await vllm_not_loaded.start()
    return vllm_not_loaded


@pytest.fixture(scope="session")
def served_by_vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real `vllm serve` on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with vllm_server(tmp_path_factory.mktemp("serve"), port) as address:
        yield address


def served_alias(address: str) -> Alias:
    """An alias of the backend openai_http for that server."""
    toml = f'[served]\nbackend = "openai_http"\nmodel = "smollm2"\nbase_url = "{address}/v1"\ncontext_tokens = 2048\n'
    return parse_aliases(toml)["served"]
