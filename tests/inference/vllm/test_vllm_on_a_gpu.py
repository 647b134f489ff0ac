"""Differences on a GPU: too little memory, memory that is released, and one model on two GPUs."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from apps.reasoning.domain.errors import BackendUnavailable
from apps.reasoning.inference.aliases import Alias, parse_aliases
from apps.reasoning.inference.streaming import read_to_final
from tests.inference.conftest import a_request
from tests.inference.vllm.vllm_here import vllm_toml
from workers.engines.vllm import VllmBackend

pytestmark = [pytest.mark.vllm, pytest.mark.gpu]


def _alias(more: str) -> Alias:
    return parse_aliases(vllm_toml("tested") + more)["tested"]


def _used_mib() -> int:
    command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


async def test_an_engine_answers_and_releases_its_memory() -> None:
    before = _used_mib()
    backend = VllmBackend(_alias("gpu_memory_utilization = 0.3\n"))
    await backend.start()
    assert _used_mib() > before + 500
    finals = await asyncio.gather(*(read_to_final(backend, a_request(f"call/{number}")) for number in range(32)))
    assert all(final.text for final in finals)
    await backend.close()
    assert _used_mib() < before + 500


async def test_the_error_for_too_little_memory_names_the_options_to_change() -> None:
    backend = VllmBackend(_alias("gpu_memory_utilization = 0.001\n"))
    with pytest.raises(BackendUnavailable, match=r"options\.gpu_memory_utilization"):
        await backend.start()
    await backend.close()


@pytest.mark.skipif(not Path("/dev/nvidia1").exists(), reason="needs two GPUs")
async def test_a_model_on_two_gpus_answers() -> None:
    backend = VllmBackend(_alias("tensor_parallel = 2\ngpu_memory_utilization = 0.3\n"))
    await backend.start()
    assert (await read_to_final(backend, a_request())).text
    assert "2 GPUs" in (await backend.health()).detail
    await backend.close()
