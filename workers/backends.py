"""Factory of backends: the only module that knows every implementation."""

import os
from pathlib import Path
from typing import assert_never

from django.conf import settings

from apps.reasoning.domain.errors import AliasError, BackendRefused
from apps.reasoning.inference.aliases import Alias, HttpOptions, OpenVinoOptions, ScriptedOptions, VllmOptions
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from apps.reasoning.inference.options import SandboxOptions as SandboxKeys
from apps.reasoning.inference.scripted import Pace, ScriptedBackend, load_script
from apps.reasoning.ports import Backend
from workers.engines.openvino import OpenVinoBackend
from workers.engines.vllm import VllmBackend
from workers.readers import Readers
from workers.sandbox.backend import SandboxBackend
from workers.sandbox.sandbox import SandboxOptions

SCRIPTS = Path(__file__).resolve().parents[1] / "apps" / "explorations"


def script_path(script: str) -> Path:
    """The file of an alias' `options.script`: a path that ends in .json, or the name of a folder of apps/explorations."""
    return Path(script).expanduser() if script.endswith(".json") else SCRIPTS / script / "script.json"


def backend_for(alias: Alias, tokens_per_s: float | None = None, readers: Readers | None = None) -> Backend:
    """A backend for the alias, not yet started. `tokens_per_s` overrides the speed of a script.

    With `readers`, an engine's process holds back the text of unwatched runs.

    Raises `BackendRefused` when models.toml or the environment needs a correction first.
    """
    match alias.options:
        case ScriptedOptions() as options:
            return _scripted(alias, options, tokens_per_s)
        case HttpOptions():
            return OpenAIHttpBackend(alias, api_key=_api_key(alias))
        case VllmOptions():
            return VllmBackend(alias)
        case OpenVinoOptions():
            return OpenVinoBackend(alias, readers)
        case SandboxKeys():
            return SandboxBackend(sandbox_options(alias))
        case unknown:
            assert_never(unknown)


def sandbox_options(alias: Alias) -> SandboxOptions:
    """The sandbox's options from the settings; the alias' `concurrency` limits the pieces of code at a time."""
    return SandboxOptions(
        level=settings.SANDBOX, environment=settings.SANDBOX_ENVIRONMENT, at_once=alias.concurrency, debug=settings.DEBUG
    )


def _scripted(alias: Alias, options: ScriptedOptions, tokens_per_s: float | None) -> Backend:
    try:
        texts = load_script(script_path(options.script))
    except AliasError as error:
        raise BackendRefused(str(error)) from error
    speed = options.tokens_per_s if tokens_per_s is None else tokens_per_s
    return ScriptedBackend(
        texts,
        pace=Pace(tokens_per_s=speed, chunk_tokens=options.chunk_tokens if speed else 0),
        context_tokens=alias.context_tokens,
        revision=alias.revision or "authored",
        vision=alias.vision,
    )


def _api_key(alias: Alias) -> str:
    if not alias.api_key_env:
        return ""
    key = os.environ.get(alias.api_key_env, "")
    if not key:
        raise BackendRefused(
            f"The environment variable {alias.api_key_env}, which holds the key of {alias.name}, is not set "
            "in the inference worker. Set it and start the worker again."
        )
    return key
