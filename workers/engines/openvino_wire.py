"""Messages from the worker to the engine process; openvino_child.py defines the format."""

import json
from typing import Any

from apps.reasoning.domain.generation import GenerationRequest
from workers.engines.schemas import checked_schema, compact_regex

#: Stop string of a model with functions: it stops after one call, and invents neither the response nor another call.
AFTER_A_CALL = "</tool_call>"


def add_message(number: int, request: GenerationRequest) -> dict[str, Any]:
    """The message that adds a call. Raises `RequestRejected`."""
    schema = checked_schema(json.dumps(request.json_schema)) if request.json_schema is not None else ""
    ending = request.ending
    return {
        "add": number,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "max": request.sampling.max_new_tokens,
        "temperature": request.sampling.temperature,
        "top_p": request.sampling.top_p,
        "tools": [{"type": "function", "function": tool.model_dump()} for tool in request.tools],
        "stop": (*request.sampling.stop, AFTER_A_CALL) if request.tools else request.sampling.stop,
        "schema": schema,
        "regex": compact_regex(schema) if schema else "",
        "ending": [ending.opening, ending.pattern, ending.end] if ending else None,
        "seed": request.seed,
    }
