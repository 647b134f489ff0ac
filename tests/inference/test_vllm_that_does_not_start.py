"""Engines of vLLM that cannot start, for real: the sentence names the key to change. Each costs the start of a process."""

from pathlib import Path

import pytest

from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.inference.aliases import parse_aliases
from tests.inference.vllm_here import VLLM, vllm_toml
from workers.engines.dequantise import model_folder
from workers.engines.vllm import VllmBackend

pytestmark = [*VLLM]


async def test_a_context_beyond_the_models_is_refused_before_anything_is_loaded() -> None:
    toml = vllm_toml("long").replace("context_tokens = 2048", "context_tokens = 100000")
    backend = VllmBackend(parse_aliases(toml)["long"])
    with pytest.raises(BackendRefused, match="context_tokens of long is 100000, more than the model supports"):
        await backend.start()
    assert (await backend.health()).state == "down"
    await backend.close()


async def test_weights_that_cannot_be_read_are_refused_with_the_reason_of_the_process_that_tried(tmp_path: Path) -> None:
    """The reason comes from a process of the engine and is found in its log."""
    for path in model_folder().iterdir():
        if path.suffix != ".safetensors":
            (tmp_path / path.name).symlink_to(path)
    with (model_folder() / "model.safetensors").open("rb") as whole:
        (tmp_path / "model.safetensors").write_bytes(whole.read(1_000_000))
    toml = vllm_toml("torn").replace(str(model_folder()), str(tmp_path))
    backend = VllmBackend(parse_aliases(toml)["torn"])
    with pytest.raises(BackendRefused, match=r"vLLM cannot load torn.*header") as raised:
        await backend.start()
    assert (await backend.health()).detail == str(raised.value)
    await backend.close()
