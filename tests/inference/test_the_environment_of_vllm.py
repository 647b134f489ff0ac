"""What vLLM reads of the environment: our defaults, what an administrator sets, and what is never left to either."""

from apps.reasoning.inference.aliases import VllmOptions
from workers.engines.vllm_environment import engine_environment

OPTIONS = VllmOptions(cache_gb=3)


def test_flashinfer_does_not_compile_its_sampler_at_the_start_of_an_engine() -> None:
    assert engine_environment(OPTIONS, {})["VLLM_USE_FLASHINFER_SAMPLER"] == "0"


def test_what_an_administrator_sets_counts_but_engines_are_always_spawned() -> None:
    known = {"VLLM_USE_FLASHINFER_SAMPLER": "1", "VLLM_CPU_KVCACHE_SPACE": "9", "VLLM_WORKER_MULTIPROC_METHOD": "fork"}
    found = engine_environment(OPTIONS, known)
    assert (found["VLLM_USE_FLASHINFER_SAMPLER"], found["VLLM_CPU_KVCACHE_SPACE"]) == ("1", "9")
    assert found["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn"
