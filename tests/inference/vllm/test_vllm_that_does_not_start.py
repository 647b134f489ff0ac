"""Real vLLM engines that cannot start: the error names the option to change. Each test starts a process."""

from pathlib import Path

import pytest

from apps.reasoning.domain.errors import BackendRefused
from apps.reasoning.inference.aliases import parse_aliases
from tests.inference.vllm.vllm_here import OWN_VLLM, vllm_toml
from workers.engines.dequantise import model_folder
from workers.engines.vllm import VllmBackend

pytestmark = [*OWN_VLLM]


async def test_a_context_longer_than_the_models_is_refused_before_loading() -> None:
    toml = vllm_toml("long").replace("context_tokens = 2048", "context_tokens = 100000")
    backend = VllmBackend(parse_aliases(toml)["long"])
    with pytest.raises(BackendRefused, match="context_tokens of long is 100000, more than the model supports"):
        await backend.start()
    assert (await backend.health()).state == "down"
    await backend.close()


async def test_unreadable_weights_are_refused_with_the_engine_processs_reason(tmp_path: Path) -> None:
    """The reason is found in the log of the engine's process."""
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
