"""Why vLLM's engine did not start, or died: its processes log the reason, and the exceptions here only that there is one."""

import re

from apps.reasoning.domain.errors import BackendError, BackendRefused, BackendUnavailable, EngineLost
from apps.reasoning.inference.aliases import Alias

_MEMORY = re.compile(
    r"out of memory|no available memory for the cache|free memory on device|larger than the available KV cache"
    r"|not enough (?:kv cache )?memory|OutOfMemoryError|cannot allocate memory|insufficient .{0,20}memory",
    re.IGNORECASE,
)
_LENGTH = re.compile(r"max_model_len.{0,80}greater than the derived", re.IGNORECASE | re.DOTALL)
_CONSEQUENCE = re.compile("initialization failed|EngineCore encountered an issue", re.IGNORECASE)
_ELSEWHERE = ", please check the stack trace above for the root cause"
_REASON = re.compile(r"^(?:.*? )?(?:[\w.]+\.)?\w*(?:Error|Exception|Interrupt): (.+)$", re.MULTILINE)


def _short(text: str) -> str:
    return " ".join(text.split())[:400]


def _reason(logged: str) -> str:
    """The last exception in a log that is not a consequence of another one; empty if there is none."""
    reasons = [match.group(1) for match in _REASON.finditer(logged) if not _CONSEQUENCE.search(match.group(1))]
    return _short(reasons[-1]).removesuffix(_ELSEWHERE) if reasons else ""


def lost(alias: Alias, logged: str) -> EngineLost:
    """Why the engine of `alias` died while it generated, from the errors that its processes logged."""
    reason = _reason(logged)
    if _MEMORY.search(logged):
        return EngineLost(
            f"The engine of {alias.name} ran out of memory while it generated. Lower its concurrency, tokens_in_flight or "
            f"options.max_batched_tokens, or set options.gpu_memory_utilization (options.cache_gb on a CPU) lower in "
            f'models.toml, so that more is left outside its cache. vLLM says: "{reason}"'
        )
    return EngineLost("The engine died while it generated." + (f' vLLM says: "{reason}"' if reason else ""))


def explained(alias: Alias, raised: str, logged: str) -> BackendError:
    """Why the engine of `alias` did not start, from the exception in this process and the errors that its processes logged."""
    whole = f"{logged}\n{raised}"
    reason = _reason(logged) or _short(raised.split(": ", 1)[-1])
    if _MEMORY.search(whole):
        return BackendUnavailable(
            f"{alias.name} does not fit into the memory. Lower its context_tokens or concurrency, raise "
            f"options.tensor_parallel, or set options.gpu_memory_utilization (options.cache_gb on a CPU) in models.toml; "
            f'another program may hold the GPU. vLLM says: "{reason}"'
        )
    if _LENGTH.search(whole):
        return BackendRefused(
            f'context_tokens of {alias.name} is {alias.context_tokens}, more than the model supports. Lower it. "{reason}"'
        )
    return BackendRefused(f'vLLM cannot load {alias.name}; correct its table in models.toml. vLLM says: "{reason}"')
