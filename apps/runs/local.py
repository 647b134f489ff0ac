"""What a process without workers can do by itself: ask a model server, and see whether the stack is there."""

import os

from redis.exceptions import RedisError

from apps.reasoning.inference.aliases import Alias
from apps.reasoning.inference.openai_http import OpenAIHttpBackend
from apps.runs.streams import sync_client


def is_stack_up() -> bool:
    """Does the broker answer? Then orchestrator and inference workers are, or soon will be, there."""
    try:
        return bool(sync_client().ping())
    except (RedisError, OSError):
        return False


def http_backend(alias: Alias) -> OpenAIHttpBackend:
    """A backend that asks the model server of an alias, with the key that models.toml names."""
    return OpenAIHttpBackend(alias, api_key=os.environ.get(alias.api_key_env, "") if alias.api_key_env else "")
