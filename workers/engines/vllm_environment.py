"""The environment variables that vLLM reads when it is imported."""

from collections.abc import Mapping

from apps.reasoning.inference.aliases import VllmOptions


def engine_environment(options: VllmOptions, known: Mapping[str, str]) -> dict[str, str]:
    """Our defaults for vLLM's variables; what the administrator has set (`known`) counts more.

    The engine's process is always spawned: a fork would break CUDA and every lock in this process.
    """
    wished = {
        "VLLM_CPU_KVCACHE_SPACE": str(options.cache_gb),
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_WAIT_POLICY": "PASSIVE",  # Threads that wait by spinning take the cores from those they wait for.
        "VLLM_NO_USAGE_STATS": "1",
        # FlashInfer compiles its sampler at start with nvcc, which the wheels put where it does not look
        # (vllm-project/vllm#49497). Every call of ours carries a seed, which switches that sampler off anyway.
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
    }
    return {name: known.get(name, value) for name, value in wished.items()} | {"VLLM_WORKER_MULTIPROC_METHOD": "spawn"}
