"""Real vLLM engines that fail in the middle of an answer: the call's error has the reason, and the worker is asked to exit."""

import asyncio
import multiprocessing

import pytest

from apps.reasoning.domain.errors import EngineLost
from apps.reasoning.inference.aliases import parse_aliases
from apps.reasoning.inference.streaming import read_to_final
from tests.inference.conftest import a_request
from tests.inference.vllm.vllm_here import OWN_VLLM, vllm_toml
from workers.engines.vllm import VllmBackend

pytestmark = [*OWN_VLLM]
FAILING = """
stalled_after_s = {stalled_after_s}
engine_args = {{worker_cls = "tests.inference.vllm.failing_vllm_worker.FailingWorker"}}
"""


@pytest.mark.parametrize(
    ("how", "stalled_after_s", "message"),
    [
        (
            "memory",
            60,
            r"ran out of memory while it generated\. Lower its concurrency.*: \"Worker failed with error 'CUDA out of memory",
        ),
        ("standstill", 15, r"The engine of frail made no step for 15 s and was ended\."),
    ],
)
async def test_the_error_has_the_reason_and_the_worker_is_asked_to_exit(
    how: str, stalled_after_s: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILING_VLLM_WORKER", how)
    dead, toml = asyncio.Event(), vllm_toml("frail") + FAILING.format(stalled_after_s=stalled_after_s)
    backend = VllmBackend(parse_aliases(toml)["frail"], on_dead=dead.set)
    try:
        before = set(multiprocessing.active_children())
        await backend.start()
        assert backend._engine is not None
        assert backend._engine.llm.output_handler is not None, "it runs before the first call"
        with pytest.raises(EngineLost, match=message):
            await read_to_final(backend, a_request(text="Tell a long story.", alias="frail", max_new_tokens=64, deadline_s=400))
        await asyncio.wait_for(dead.wait(), 10)
        assert (await backend.health()).state == "down"
    finally:
        await backend.close()
    assert set(multiprocessing.active_children()) <= before, "no process of the engine still holds memory"
