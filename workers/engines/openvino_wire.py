"""What the worker writes to the engine process; openvino_child.py says how the lines look."""

import functools
import json
from typing import Any

import jsonschema

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import GenerationRequest


@functools.lru_cache(maxsize=64)
def checked_schema(schema: str) -> str:
    """A schema that is none would end the engine. Raises `RequestRejected`."""
    try:
        jsonschema.Draft202012Validator.check_schema(json.loads(schema))
    except jsonschema.SchemaError as error:
        raise RequestRejected(f"The JSON schema of the request is wrong: {error.message}.") from error
    return schema


def added(number: int, request: GenerationRequest) -> dict[str, Any]:
    """The message that adds a call. Raises `RequestRejected`."""
    return {
        "add": number,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "max": request.sampling.max_new_tokens,
        "temperature": request.sampling.temperature,
        "top_p": request.sampling.top_p,
        "stop": request.sampling.stop,
        "schema": checked_schema(json.dumps(request.json_schema)) if request.json_schema is not None else "",
        "seed": request.seed,
    }
