"""The contract of all backends in one suite: scripted, HTTP against a local server, and the real SmolLM2."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
import pytest_asyncio

from apps.reasoning.domain.errors import DeadlineExceeded, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest, Picture
from apps.reasoning.inference.aliases import Alias, load_aliases
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from apps.reasoning.inference.options import BackendName
from apps.reasoning.inference.scripted import Pace, ScriptedBackend
from apps.reasoning.ports import Backend
from tests.inference.conftest import SURE_PROMPT, a_request, served_alias
from tests.inference.http.fake_server import FakeModelServer
from tests.inference.vllm.vllm_here import LOADED_WITHIN_S, VLLM
from workers.engines.openvino import OpenVinoBackend
from workers.engines.vllm import VllmBackend

MODELS = Path(__file__).resolve().parents[2] / "apps" / "config" / "models.toml"
SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "integer", "minimum": 0, "maximum": 9}},
    "required": ["verdict"],
    "additionalProperties": False,
}

# One loop for all tests: an engine is bound to the loop that started it, and loading takes seconds.
pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Subject:
    """A backend, prompts (long answer, sure answer, longer than the context), and its optional abilities."""

    backend: Backend
    long_prompt: str
    sure_prompt: str
    too_long: str
    abilities: frozenset[str] = frozenset()


_ABILITIES = {
    "scripted": frozenset({"several", "capture"}),
    "scripted_vision": frozenset({"several", "capture", "pictures"}),
    "openai_http": frozenset({"pictures"}),
    "vllm": frozenset({"several", "capture", "tokens"}),
}
PICTURE = Picture(media="image/jpeg", data=base64.b64encode(b"\xff\xd8\xff a page").decode())


def _scripted_text(request: GenerationRequest) -> str:
    if request.json_schema is not None:
        return '{ "verdict": 1 }'
    name = re.sub(r"\W+", "", "".join(["seen" for _ in request.pictures] or [request.messages[-1].content]))[:12]
    return " ".join(f"{name}{number}" for number in range(1, 61))


_KINDS = ("scripted", "scripted_vision", "openai_http", "openvino", "vllm", "vllm_serve")
_MARKS = {"openvino": (pytest.mark.engine,), "vllm": VLLM, "vllm_serve": VLLM}


async def test_every_backend_keeps_the_contract() -> None:
    assert set(get_args(BackendName)) - {"sandbox"} - set(_KINDS) == set(), "add them to _KINDS and `tested`"


@pytest.fixture(scope="module", params=[pytest.param(one, marks=_MARKS.get(one, ())) for one in _KINDS])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest_asyncio.fixture(loop_scope="session", scope="module")
async def tested(
    request: pytest.FixtureRequest, kind: str, module_model_server: FakeModelServer, vllm_not_loaded: VllmBackend
) -> AsyncIterator[Subject]:
    backend: Backend
    if kind.startswith("scripted"):
        sees = kind == "scripted_vision"
        backend = ScriptedBackend(_scripted_text, pace=Pace(tokens_per_s=400), context_tokens=512, vision=sees)
    elif kind == "openai_http":
        module_model_server.pause_s = 0.003
        backend = OpenAIHttpBackend(_http_alias(module_model_server))
    elif kind == "vllm_serve":
        backend = OpenAIHttpBackend(served_alias(request.getfixturevalue("served_by_vllm")))
    elif kind == "vllm":
        backend = vllm_not_loaded
        async with asyncio.timeout(LOADED_WITHIN_S):
            await vllm_not_loaded.start()
    elif kind == "openvino":
        backend = OpenVinoBackend(load_aliases(MODELS)["smollm2"])
    else:
        raise AssertionError(f"`tested` makes no backend {kind}")
    story = "Tell a long story about a fox and a crow."
    yield Subject(backend, story, SURE_PROMPT, "word " * 2100, _ABILITIES.get(kind, frozenset()))
    if kind != "vllm":  # Other tests still use it.
        await backend.close()


def _http_alias(server: FakeModelServer) -> Alias:
    return Alias.model_validate(
        {
            "name": "http",
            "title": "",
            "backend": "openai_http",
            "model": "fake-model",
            "base_url": server.base_url,
            "vision": True,
            "options": {},
        }
    )


async def _read(backend: Backend, request: GenerationRequest) -> tuple[list[Delta], Final]:
    items = [item async for item in backend.generate(request)]
    deltas = [item for item in items if isinstance(item, Delta)]
    assert isinstance(items[-1], Final)
    assert len(deltas) == len(items) - 1, "there is one result, at the end"
    return deltas, items[-1]


async def _is_free(backend: Backend) -> bool:
    for _ in range(100):
        health = await backend.health()
        if health.running == health.waiting == 0:
            return True
        await asyncio.sleep(0.01)
    return False


async def test_a_stream_has_deltas_and_then_one_result_with_the_same_text(tested: Subject) -> None:
    deltas, final = await _read(tested.backend, a_request(text=tested.long_prompt))
    assert len(deltas) > 2
    assert "".join(delta.text for delta in deltas) == final.text
    assert final.text.strip()
    assert "�" not in final.text


async def test_usage_times_and_revision_come_with_the_result(tested: Subject) -> None:
    deltas, final = await _read(tested.backend, a_request(text=tested.long_prompt))
    assert final.usage.prompt > 0
    assert 0 < final.usage.completion <= 40
    assert sum(delta.tokens for delta in deltas) == final.usage.completion
    assert final.ttft_s is not None
    assert 0 <= final.ttft_s <= final.duration_s
    assert final.model_revision


async def test_the_limit_of_new_tokens_holds_and_is_the_finish_reason(tested: Subject) -> None:
    _, final = await _read(tested.backend, a_request(text=tested.long_prompt, max_new_tokens=7))
    assert final.finish_reason == "length"
    assert final.usage.completion == 7


async def test_an_answer_ends_before_its_stop_string(tested: Subject) -> None:
    _, whole = await _read(tested.backend, a_request(text=tested.sure_prompt))
    words = whole.text.split()
    stop = f"{words[4]} {words[5]}"
    deltas, final = await _read(tested.backend, a_request(text=tested.sure_prompt, stop=(stop,)))
    assert final.finish_reason == "stop"
    assert final.text == whole.text.split(stop)[0]
    assert "".join(delta.text for delta in deltas) == final.text


async def test_a_json_schema_shapes_the_answer(tested: Subject) -> None:
    request = a_request(text="Rate this from 0 to 9, as JSON.", json_schema=SCHEMA, max_new_tokens=120)
    _, final = await _read(tested.backend, request)
    assert final.finish_reason == "stop"
    jsonschema.validate(json.loads(final.text), SCHEMA)


async def test_the_same_request_at_temperature_zero_gives_the_same_text_whatever_the_seed(tested: Subject) -> None:
    first = await _read(tested.backend, a_request("first", tested.sure_prompt, seed=5))
    second = await _read(tested.backend, a_request("second", tested.sure_prompt, seed=6))
    assert first[1].text == second[1].text


async def test_an_abort_ends_the_stream_early_and_frees_the_engine(tested: Subject) -> None:
    request = a_request(text=tested.long_prompt, max_new_tokens=400)
    deltas: list[Delta] = []
    async for item in tested.backend.generate(request):
        if isinstance(item, Delta):
            if not deltas:
                await tested.backend.abort(request.call_id)
            deltas.append(item)
    assert isinstance(item, Final)
    assert item.finish_reason == "cancelled"
    assert item.usage.completion < 200
    assert item.text == "".join(delta.text for delta in deltas)
    assert await _is_free(tested.backend)


async def test_an_abort_of_an_unknown_call_is_ignored(tested: Subject) -> None:
    await tested.backend.abort("no/such#1")


async def test_closing_the_stream_stops_the_work(tested: Subject) -> None:
    stream = tested.backend.generate(a_request(text=tested.long_prompt, max_new_tokens=400))
    await anext(stream)
    await stream.aclose()  # type: ignore[attr-defined]  # the port promises an iterator; all of ours are generators
    assert await _is_free(tested.backend)
    _, final = await _read(tested.backend, a_request("after", tested.long_prompt))
    assert final.text


async def test_cancelling_the_reader_stops_the_work(tested: Subject) -> None:
    task = asyncio.create_task(_read(tested.backend, a_request(text=tested.long_prompt, max_new_tokens=400)))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await _is_free(tested.backend)


async def test_twelve_simultaneous_calls_end_and_run_together(tested: Subject) -> None:
    order: list[int] = []

    async def call(number: int) -> Final:
        async for item in tested.backend.generate(a_request(f"call/{number}", f"{tested.long_prompt} {number}")):
            if isinstance(item, Final):
                return item
            order.append(number)
        raise AssertionError("no result")

    finals = await asyncio.gather(*(call(number) for number in range(12)))
    assert all(final.usage.completion > 0 for final in finals)
    spans = [(order.index(number), len(order) - 1 - order[::-1].index(number)) for number in set(order)]
    together = max(sum(first <= moment <= last for first, last in spans) for moment, _ in spans)
    assert together > 6, "calls run together, not one after another"


async def test_a_prompt_beyond_the_context_is_rejected_and_the_next_call_works(tested: Subject) -> None:
    with pytest.raises(RequestRejected, match="prompt"):
        await _read(tested.backend, a_request(text=tested.too_long))
    _, final = await _read(tested.backend, a_request("after", tested.long_prompt))
    assert final.text


async def test_a_deadline_stops_the_call(tested: Subject) -> None:
    with pytest.raises(DeadlineExceeded):
        await _read(tested.backend, a_request(text=tested.long_prompt, max_new_tokens=400, deadline_s=0.05))
    assert await _is_free(tested.backend)


async def test_health_is_ready_and_counts_running_calls(tested: Subject) -> None:
    request = a_request(text=tested.long_prompt, max_new_tokens=400)
    stream = tested.backend.generate(request)
    await anext(stream)
    busy = await tested.backend.health()
    await stream.aclose()  # type: ignore[attr-defined]
    assert busy.state == "ready"
    assert busy.running == 1
    assert busy.detail.endswith(".")
    assert (await tested.backend.health()).tokens_per_s > 0


async def test_several_completions_are_in_the_result_or_the_request_is_rejected(tested: Subject) -> None:
    request = a_request(text=tested.long_prompt, n=3, temperature=0.9, seed=7)
    if "several" not in tested.abilities:
        with pytest.raises(RequestRejected, match="one completion per call, not 3"):
            await _read(tested.backend, request)
        return
    deltas, final = await _read(tested.backend, request)
    assert "".join(delta.text for delta in deltas) == final.text, "only the first completion is streamed"
    assert len(final.more) == 2
    assert all(sample.text for sample in final.more)
    assert final.usage.completion > sum(delta.tokens for delta in deltas)
    assert await _is_free(tested.backend)


async def test_sampled_tokens_are_captured_or_the_request_is_rejected(tested: Subject) -> None:
    request = a_request(text=tested.long_prompt, capture=True)
    if "capture" not in tested.abilities:
        with pytest.raises(RequestRejected, match="capture"):
            await _read(tested.backend, request)
        return
    _, final = await _read(tested.backend, request)
    assert final.capture is not None
    assert len(final.capture.prompt_ids) == final.usage.prompt
    assert len(final.capture.completion_ids) == len(final.capture.logprobs) == final.usage.completion
    assert all(value <= 0 for value in final.capture.logprobs)
    assert (final.capture.temperature, final.capture.max_new_tokens) == (0, 40)


async def test_a_prompt_of_tokens_is_accepted_or_the_request_is_rejected(tested: Subject) -> None:
    if "tokens" not in tested.abilities:
        with pytest.raises(RequestRejected, match="tokens of a prompt"):
            await _read(tested.backend, a_request(prompt_ids=(1, 2, 3)))
        return
    _, whole = await _read(tested.backend, a_request(text=tested.sure_prompt, capture=True))
    assert whole.capture is not None
    _, again = await _read(tested.backend, a_request("again", "Something else.", prompt_ids=whole.capture.prompt_ids))
    assert again.text == whole.text


async def test_an_answer_in_segments_is_the_same_or_the_request_is_rejected(tested: Subject) -> None:
    request = a_request("pieces", tested.sure_prompt, capture="capture" in tested.abilities, segment_tokens=5)
    if "capture" not in tested.abilities:
        with pytest.raises(RequestRejected, match="segments"):
            await _read(tested.backend, request)
        return
    _, whole = await _read(tested.backend, a_request("whole", tested.sure_prompt, capture=True))
    deltas, final = await _read(tested.backend, request)
    assert final.text == whole.text == "".join(delta.text for delta in deltas)
    assert final.finish_reason == whole.finish_reason
    assert final.usage.model_copy(update={"cached": 0}) == whole.usage.model_copy(update={"cached": 0})
    assert final.capture is not None
    assert whole.capture is not None
    assert final.capture.completion_ids == whole.capture.completion_ids
    assert whole.capture.segments == ()
    assert {one.policy for one in final.capture.segments} == {whole.capture.policy}
    *full, last = [one.tokens for one in final.capture.segments]
    assert set(full) == {5}
    assert sum(full) + last == final.usage.completion


async def test_an_abort_between_segments_ends_the_stream(tested: Subject) -> None:
    if "capture" not in tested.abilities:
        return
    request = a_request(text=tested.long_prompt, max_new_tokens=400, capture=True, segment_tokens=3)
    drawn = 0
    async for item in tested.backend.generate(request):
        if isinstance(item, Delta):
            drawn += item.tokens
            if drawn in (3, 4):
                await tested.backend.abort(request.call_id)
    assert isinstance(item, Final)
    assert item.finish_reason == "cancelled"
    assert 3 <= item.usage.completion < 40
    assert await _is_free(tested.backend)


async def test_a_rejected_request_leaves_nothing_running(tested: Subject) -> None:
    with pytest.raises(RequestRejected):
        await _read(tested.backend, a_request(text=tested.too_long))
    assert await _is_free(tested.backend)


async def test_a_picture_is_read_or_the_request_is_rejected(tested: Subject) -> None:
    request = a_request("seen", tested.long_prompt, pictures=(PICTURE,))
    if "pictures" not in tested.abilities:
        with pytest.raises(RequestRejected, match="looks at no pictures"):
            await _read(tested.backend, request)
        assert await _is_free(tested.backend)
        return
    _, final = await _read(tested.backend, request)
    assert final.text.startswith("seen1 ")
    _, blind = await _read(tested.backend, a_request("after", tested.long_prompt))
    assert not blind.text.startswith("seen")
    assert final.usage.prompt > 0
