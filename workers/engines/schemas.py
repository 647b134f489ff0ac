"""JSON schemas of requests, looked at before an engine gets them: one that is none would end it."""

import functools
import json

import jsonschema

from apps.reasoning.domain.errors import RequestRejected


@functools.lru_cache(maxsize=64)
def checked_schema(schema: str) -> str:
    """The schema itself. Raises `RequestRejected` where it is none."""
    try:
        jsonschema.Draft202012Validator.check_schema(json.loads(schema))
    except jsonschema.SchemaError as error:
        raise RequestRejected(f"The JSON schema of the request is wrong: {error.message}.") from error
    return schema
