"""A scheme as JSON, for programs: the text form's content, with each item's lineage."""

import json
from typing import Any

from pydantic import ValidationError

from apps.reasoning.marking.schemes.faults import Fault, FormWrong, validation_faults
from apps.reasoning.marking.schemes.scheme import Scheme

FORMAT = "lemmascope.scheme/1"
SIZE_AT_MOST = 1_000_000


def json_value(scheme: Scheme) -> dict[str, Any]:
    """The scheme as a JSON object. Points are strings, so that no program makes them binary fractions."""
    return {"format": FORMAT, **scheme.model_dump(mode="json")}


def json_written(scheme: Scheme) -> str:
    """`json_value` as text for people to read."""
    return json.dumps(json_value(scheme), ensure_ascii=False, indent=2) + "\n"


def json_read(text: str) -> Scheme:
    """The scheme of a JSON text. Raises `FormWrong`, which names the path of every wrong value."""
    if len(text) > SIZE_AT_MOST:
        raise FormWrong((Fault(where="", message=f"The file is longer than {SIZE_AT_MOST:,} characters."),))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormWrong((Fault(where="", message=f"This is not JSON: {error}."),)) from error
    return json_scheme(value)


def json_scheme(value: Any) -> Scheme:
    """The scheme of a JSON object. Raises `FormWrong`."""
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise FormWrong((Fault(where="format", message=f"A scheme is an object whose format is “{FORMAT}”."),))
    try:
        return Scheme.model_validate({name: part for name, part in value.items() if name != "format"})
    except ValidationError as error:
        raise FormWrong(validation_faults(error)) from error
