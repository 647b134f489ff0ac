"""The environment variables that vLLM reads when it is imported."""

from collections.abc import Mapping

from apps.reasoning.inference.aliases import VllmOptions


def engine_environment(options: VllmOptions, known: Mapping[str, str]) -> dict[str, str]:
    """Our defaults for vLLM's variables. Values that the administrator has set (`known`) override them.

    The engine's process is always spawned: a fork would break CUDA and every lock in this process.
    """
    defaults = {
        "VLLM_CPU_KVCACHE_SPACE": str(options.cache_gb),
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "OMP_WAIT_POLICY": "PASSIVE",  # Spinning threads would take the cores from the threads they wait for.
        "VLLM_NO_USAGE_STATS": "1",
        # FlashInfer compiles its sampler at start and does not find the nvcc of the wheels (vllm-project/vllm#49497). All our
        # calls have a seed, which disables that sampler anyway.
        "VLLM_USE_FLASHINFER_SAMPLER": "0",
    }
    return {name: known.get(name, value) for name, value in defaults.items()} | {"VLLM_WORKER_MULTIPROC_METHOD": "spawn"}
