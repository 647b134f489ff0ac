"""Functions for a process without workers: call a model server, and check whether the stack is running."""

import os

from redis.exceptions import RedisError

from apps.processes.streams import sync_client
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.openai_http import OpenAIHttpBackend


def is_stack_up() -> bool:
    """Whether the broker responds, so that orchestrator and inference workers are running or starting."""
    try:
        return bool(sync_client().ping())
    except (RedisError, OSError):
        return False


def http_backend(alias: Alias) -> OpenAIHttpBackend:
    """A backend for the model server of an alias, with the key named in models.toml."""
    return OpenAIHttpBackend(alias, api_key=os.environ.get(alias.api_key_env, "") if alias.api_key_env else "")
