"""JSON Schemas of short answers."""

from collections.abc import Mapping, Sequence
from typing import Any


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object with exactly these fields."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def choice_schema(name: str, *choices: str | float | None) -> dict[str, Any]:
    """The JSON Schema of an object whose one field is one of the choices."""
    return decisions({name: choices})


def decisions(choices: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The JSON Schema of an object with one of its choices for every name."""
    return object_schema({name: {"enum": list(allowed)} for name, allowed in choices.items()})
