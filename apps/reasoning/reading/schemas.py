"""JSON Schemas of short answers."""

from collections.abc import Mapping, Sequence
from typing import Any

#: A short text, such as a title or step of a short form: 5 to 100 characters (a grammar counts them, and longer ones take it
#: minutes). A letter or a formula begins it, so that a weak model cannot copy the dots of the form.
TEXT: dict[str, Any] = {"type": "string", "pattern": r'^[A-Za-z$]([^"\\\n]|\\\\){4,99}$'}


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object with exactly these fields."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def choice_schema(name: str, *choices: str | float | None) -> dict[str, Any]:
    """The JSON Schema of an object whose one field is one of the choices."""
    return decisions({name: choices})


def decisions(choices: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
    """The JSON Schema of an object with one of its choices for every name."""
    return object_schema({name: {"enum": list(allowed)} for name, allowed in choices.items()})
