"""Engines of vLLM that cannot start, for real: the sentence names the key to change. Each costs the start of a process."""

import pytest

from apps.reasoning.domain.errors import BackendRefused, BackendUnavailable
from apps.reasoning.inference.aliases import parse_aliases
from tests.inference.vllm_here import vllm_toml
from workers.engines.vllm import VllmBackend

pytestmark = [pytest.mark.vllm]


async def test_a_context_beyond_the_models_is_refused_before_anything_is_loaded() -> None:
    toml = vllm_toml("long").replace("context_tokens = 2048", "context_tokens = 100000")
    backend = VllmBackend(parse_aliases(toml)["long"])
    with pytest.raises(BackendRefused, match="context_tokens of long is 100000, more than the model was made for"):
        await backend.start()
    assert (await backend.health()).state == "down"
    await backend.close()


async def test_too_little_memory_names_the_keys_that_need_less() -> None:
    """The reason comes from a process of the engine and is found in its log."""
    backend = VllmBackend(parse_aliases(vllm_toml("tight") + "engine_args = { kv_cache_memory_bytes = 1000000 }\n")["tight"])
    with pytest.raises(BackendUnavailable, match=r"does not fit into the memory\. Lower its context_tokens") as raised:
        await backend.start()
    assert "KV cache" in str(raised.value)
    assert "context_tokens" in (await backend.health()).detail
    await backend.close()
