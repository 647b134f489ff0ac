"""Options of each backend, in the table `[NAME.options]` of models.toml (docs/models.md explains every key).

`NEEDS` are the keys that an alias of the backend must have.
"""

import re
from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.domain.values import Value

_UNNAMEABLE = re.compile(r"[^A-Za-z0-9._:-]")
_LONGEST_NAME = 128
BackendName = Literal["scripted", "openvino", "vllm", "openai_http", "sandbox"]


class ScriptedOptions(Value):
    """`script` names a script file; `tokens_per_s` 0 means at once; `chunk_tokens` 0 sends the text in one piece."""

    NEEDS: ClassVar[tuple[str, ...]] = ()
    script: str = ""
    tokens_per_s: float = Field(default=0.0, ge=0)
    chunk_tokens: int = Field(default=1, ge=0)


class OpenVinoOptions(Value):
    """How OpenVINO GenAI runs: `cache_gb` for keys and values of all running calls, `threads` 0 for all cores."""

    NEEDS: ClassVar[tuple[str, ...]] = ("model",)
    device: str = "CPU"
    cache_gb: int = Field(default=1, ge=1)
    max_batched_tokens: int = Field(default=512, ge=1)
    prefix_caching: bool = True
    threads: int = Field(default=0, ge=0)


_ENGINE_ARGS_WITH_A_KEY = {
    "model": "the alias' model",
    "max_model_len": "the alias' context_tokens",
    "max_num_seqs": "the alias' concurrency",
    "tensor_parallel_size": "tensor_parallel",
    "pipeline_parallel_size": "pipeline_parallel",
    "max_num_batched_tokens": "max_batched_tokens",
    "enable_prefix_caching": "prefix_caching",
    "logprobs_mode": "logprobs_of",
    "enable_lora": "adapter_of in an alias of its own",
    "weight_transfer_config": "the alias' weights",
    "enable_sleep_mode": "options.sleep_after_s",
    "gpu_memory_utilization": "options.gpu_memory_utilization",
    "reasoning_parser": "options.reasoning_parser",
    "tool_call_parser": "options.tool_parser",
}


class VllmOptions(Value):
    """How vLLM runs in the worker's process; docs/models.md says what each is for. `cache_gb` counts on a CPU only.

    `engine_args` are further arguments of vLLM's engine by their own names, where there is no key above.
    """

    NEEDS: ClassVar[tuple[str, ...]] = ("model",)
    tensor_parallel: int = Field(default=1, ge=1)
    pipeline_parallel: int = Field(default=1, ge=1)
    gpu_memory_utilization: float = Field(default=0.9, gt=0, le=1)
    cache_gb: int = Field(default=4, ge=1)
    dtype: str = "auto"
    quantization: str = ""
    kv_cache_dtype: str = "auto"
    enforce_eager: bool = False
    max_batched_tokens: int | None = Field(default=None, ge=1)
    prefix_caching: bool = True
    reasoning_parser: str = ""
    tool_parser: str = ""
    chat_template: str = ""
    chat_template_kwargs: dict[str, Any] = {}
    logprobs_of: Literal["raw", "sampled"] = "sampled"
    max_loras: int = Field(default=4, ge=1)
    max_lora_rank: int = Field(default=32, ge=1)
    load_at_start: bool = True
    stalled_after_s: float = Field(default=360.0, gt=0)
    sleep_after_s: float = Field(default=0.0, ge=0)
    sleep_level: Literal[1, 2] = 1
    engine_args: dict[str, Any] = {}

    @field_validator("engine_args")
    @classmethod
    def _nothing_that_has_a_key(cls, given: dict[str, Any]) -> dict[str, Any]:
        for name in given:
            if name == "trust_remote_code":
                raise ValueError("code that comes with weights is not run here; choose a model that vLLM supports")
            if name in _ENGINE_ARGS_WITH_A_KEY:
                raise ValueError(f"use {_ENGINE_ARGS_WITH_A_KEY[name]} instead of {name}")
        return given


def call_name(role: str, key: str) -> str:
    """Role and key of a call in letters that every header may have."""
    return _UNNAMEABLE.sub(".", f"{role}:{key}")[:_LONGEST_NAME]


class HttpOptions(Value):
    """How a model server is asked. `retries` counts attempts after the first, made only where nothing was received.

    `call_header` names a header that says role and key of each call, for a proxy that records calls; empty: none.
    """

    NEEDS: ClassVar[tuple[str, ...]] = ("base_url", "model")
    connect_timeout_s: float = Field(default=10.0, gt=0)
    silence_timeout_s: float = Field(default=300.0, gt=0)
    retries: int = Field(default=4, ge=0, le=20)
    structured_output: Literal["json_schema", "json_object", "none"] = "json_schema"
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    send_seed: bool = True
    send_sampling: bool = True
    call_header: str = Field(default="", pattern=r"^[A-Za-z0-9-]*$")
    extra_body: dict[str, Any] = {}

    def names(self, request: GenerationRequest) -> dict[str, str]:
        """The header `call_header`."""
        return {self.call_header: call_name(request.role, request.key)} if self.call_header else {}


class SandboxOptions(Value):
    """Nothing: the settings SANDBOX and SANDBOX_ENVIRONMENT of the worker say what runs there (docs/sandbox.md)."""

    NEEDS: ClassVar[tuple[str, ...]] = ()


Options = ScriptedOptions | OpenVinoOptions | VllmOptions | HttpOptions | SandboxOptions
OPTIONS_OF: dict[BackendName, type[Options]] = {
    "scripted": ScriptedOptions,
    "openvino": OpenVinoOptions,
    "vllm": VllmOptions,
    "openai_http": HttpOptions,
    "sandbox": SandboxOptions,
}
