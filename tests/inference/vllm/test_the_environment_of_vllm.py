"""The environment variables of vLLM: our defaults, an administrator's settings, and values that are always fixed."""

from apps.reasoning.inference.aliases import VllmOptions
from workers.engines.vllm_environment import engine_environment

OPTIONS = VllmOptions(cache_gb=3)


def test_flashinfer_does_not_compile_its_sampler_when_an_engine_starts() -> None:
    assert engine_environment(OPTIONS, {})["VLLM_USE_FLASHINFER_SAMPLER"] == "0"


def test_an_administrators_settings_are_kept_but_engines_are_always_spawned() -> None:
    known = {"VLLM_USE_FLASHINFER_SAMPLER": "1", "VLLM_CPU_KVCACHE_SPACE": "9", "VLLM_WORKER_MULTIPROC_METHOD": "fork"}
    found = engine_environment(OPTIONS, known)
    assert (found["VLLM_USE_FLASHINFER_SAMPLER"], found["VLLM_CPU_KVCACHE_SPACE"]) == ("1", "9")
    assert found["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn"
