"""The scripted backend: sources of its texts, pace, faults and script files."""

import asyncio
import json
import time
from pathlib import Path

import pytest

from apps.reasoning.domain.errors import AliasError, DeadlineExceeded, EngineLost, RequestRejected
from apps.reasoning.domain.generation import Delta, Final, GenerationRequest
from apps.reasoning.inference.scripted import Faults, Pace, Reply, ScriptedBackend, load_script
from tests.inference.conftest import a_request


async def _final(backend: ScriptedBackend, request: GenerationRequest | None = None) -> Final:
    async for item in backend.generate(request or a_request()):
        if isinstance(item, Final):
            return item
    raise AssertionError("no result")


async def test_texts_are_found_by_key_by_order_or_by_a_function() -> None:
    by_key = ScriptedBackend({"s0/r1/reason": "By key."})
    assert (await _final(by_key, a_request("s0/r1/reason"))).text == "By key."
    in_order = ScriptedBackend(["One.", "Two."])
    assert [(await _final(in_order)).text for _ in range(2)] == ["One.", "Two."]
    computed = ScriptedBackend(lambda request: request.key.upper())
    assert (await _final(computed, a_request("abc"))).text == "ABC"


async def test_a_key_without_a_text_is_rejected() -> None:
    with pytest.raises(RequestRejected, match="no text for the call s9"):
        await _final(ScriptedBackend({}), a_request("s9"))
    exhausted = ScriptedBackend(["One."])
    await _final(exhausted)
    with pytest.raises(RequestRejected):
        await _final(exhausted)


async def test_white_space_and_formulas_come_back_unchanged() -> None:
    text = "  Let $x \\in \\mathbb{R}$.\n\n1. Then\n   $$x^2 \\ge 0.$$\n"
    final = await _final(ScriptedBackend([text]))
    assert final.text == text


async def test_reasoning_is_streamed_before_the_text() -> None:
    backend = ScriptedBackend([Reply(text="The answer.", reasoning="First I think.")])
    items = [item async for item in backend.generate(a_request())]
    deltas = [item for item in items if isinstance(item, Delta)]
    assert "".join(delta.reasoning for delta in deltas) == "First I think."
    assert [bool(delta.reasoning) for delta in deltas] == [True, True, True, False, False]
    assert items[-1].usage.reasoning == 3  # type: ignore[union-attr]
    assert items[-1].usage.completion == 5  # type: ignore[union-attr]


async def test_the_text_is_streamed_at_the_set_pace() -> None:
    began = time.monotonic()
    final = await _final(ScriptedBackend(["word " * 20], pace=Pace(tokens_per_s=100)))
    assert time.monotonic() - began > 0.18
    assert final.duration_s >= 0.18


async def test_a_text_without_chunks_is_one_delta_and_the_result() -> None:
    backend = ScriptedBackend(["word " * 20], pace=Pace(chunk_tokens=0))
    assert len([item async for item in backend.generate(a_request())]) == 2


async def test_the_latency_of_a_call_is_the_same_every_time() -> None:
    backend = ScriptedBackend(lambda _: "Hi.", pace=Pace(latency_s=0.02))
    request = a_request()
    wait = backend._latency(request)
    assert 0.004 < wait == backend._latency(request) != backend._latency(a_request("another call"))
    final = await _final(backend, request)
    assert final.ttft_s is not None
    assert final.ttft_s >= wait


async def test_faults_fail_cut_or_hang_the_calls_they_name() -> None:
    faults = Faults(fail={1: EngineLost()}, cut={2: 3}, hang=frozenset({3}))
    backend = ScriptedBackend(lambda _: "one two three four five", faults=faults)
    with pytest.raises(EngineLost):
        await _final(backend)
    cut = await _final(backend)
    assert (cut.text, cut.finish_reason) == ("one two three ", "length")
    hanging = asyncio.create_task(_final(backend))
    await asyncio.sleep(0.02)
    assert not hanging.done()
    await backend.abort(a_request().call_id)
    assert (await hanging).finish_reason == "cancelled"
    assert (await _final(backend)).finish_reason == "stop"


async def test_a_hanging_call_ends_at_its_deadline() -> None:
    backend = ScriptedBackend(["text"], faults=Faults(hang=frozenset({1})))
    with pytest.raises(DeadlineExceeded):
        await _final(backend, a_request(deadline_s=0.05))


def test_a_script_file_gives_texts_and_reasoning_by_key(tmp_path: Path) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"a": "Text.", "b": {"text": "T", "reasoning": "R"}}))
    assert load_script(path) == {"a": "Text.", "b": Reply(text="T", reasoning="R")}


@pytest.mark.parametrize(
    ("content", "sentence"), [("[1]", "one JSON object"), ('{"a":\n 1x}', "line 2"), ('{"a": 1}', "one JSON object")]
)
def test_an_invalid_script_file_is_reported(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(content)
    with pytest.raises(AliasError, match=sentence):
        load_script(path)
    with pytest.raises(AliasError, match="cannot be read"):
        load_script(tmp_path / "none.json")
