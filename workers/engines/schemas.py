"""Validation of the JSON schemas of requests: an invalid one would end the engine."""

import functools
import json

import jsonschema
from outlines_core.json_schema import build_regex_from_schema

from apps.reasoning.domain.errors import RequestRejected
from apps.reasoning.domain.generation import GenerationRequest
from apps.reasoning.inference.abilities import structural_tag

#: White space between the parts of an object. If a grammar allows any amount, a weak model may write nothing else.
_AT_MOST_ONE_SPACE = " ?"
#: OpenVINO's grammar reads characters as bytes and warns of each beyond ASCII.
_CONTROLS, _CONTROLS_OF_ASCII = r"\x7F-\x9F", r"\x7F"
#: The escapes allowed in a string: with the others, `\frac` would be a form feed and `rac`. Each backslash is doubled.
_ESCAPES, _SAFE_ESCAPES = r'\\["\\/bfnrt]', r'\\["\\/]'


@functools.lru_cache(maxsize=64)
def checked_schema(schema: str) -> str:
    """The schema itself. Raises `RequestRejected` if it is invalid."""
    try:
        jsonschema.Draft202012Validator.check_schema(json.loads(schema))
    except jsonschema.SchemaError as error:
        raise RequestRejected(f"The JSON schema of the request is invalid: {error.message}.") from error
    return schema


@functools.lru_cache(maxsize=64)
def compact_regex(schema: str) -> str:
    """A regular expression for JSON that follows the schema, fields in its order; "" if none can be built."""
    try:
        found = build_regex_from_schema(checked_schema(schema), whitespace_pattern=_AT_MOST_ONE_SPACE)
    except (ValueError, TypeError, RuntimeError):
        return ""
    return str(found).replace(_CONTROLS, _CONTROLS_OF_ASCII).replace(_ESCAPES, _SAFE_ESCAPES)


def structured_output(request: GenerationRequest) -> dict[str, str]:
    """vLLM's options for a structured answer; empty for free text. Raises `RequestRejected`."""
    if request.json_schema is not None:
        schema = checked_schema(json.dumps(request.json_schema))
        # vLLM's own grammar for a schema allows any white space; the option against it is for the whole engine only.
        regex = compact_regex(schema)
        return {"regex": regex} if regex else {"json": schema}
    return {"structural_tag": json.dumps(structural_tag(request.ending))} if request.ending is not None else {}
