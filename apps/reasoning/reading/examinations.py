"""A judge's second answer after a first one that only repeats the prompt: an examination and its closing in one JSON object.

A closing alone would be a verdict on an unexamined text.
"""

import json
from typing import Any

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored
from apps.reasoning.reading.answers import whole_answer
from apps.reasoning.reading.closings import json_within, text_around_json
from apps.reasoning.reading.echoes import own_text
from apps.reasoning.reading.schemas import TEXT

#: The field of the examination.
EXAMINATION = "examination"
#: Tokens for the examination.
EXAMINATION_TOKENS = 400
#: Why an answer without an examination is no verdict.
UNEXAMINED = "it decides without an examination"
_MOST_NAMED = 8


def with_examination(schema: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of an object, with the examination as its first field."""
    sentences = {"type": "array", "items": TEXT, "minItems": 2, "maxItems": 4}
    properties = {EXAMINATION: sentences, **schema["properties"]}
    return {**schema, "properties": properties, "required": [EXAMINATION, *schema["required"]]}


def shape_shown(schema: dict[str, Any]) -> str:
    """An object of this schema as a prompt shows it, with the possible values in words: `{"decision": "pass or fail"}`."""
    return json.dumps(_shown(schema), ensure_ascii=False)


def _shown(schema: dict[str, Any]) -> Any:
    if "properties" in schema:
        return {name: _shown(one) for name, one in schema["properties"].items()}
    if "items" in schema:
        return ["…", "…"]
    values = ["null" if one is None else str(one).lower() for one in schema.get("enum", ())]
    if len(values) > _MOST_NAMED:
        return f"{values[0]} to {values[-1]}"
    return " or ".join(values) or "…"


def examined(second: Final, prompt: str) -> tuple[Final, str] | Unscored:
    """The closing of a second answer, and the examination that comes with it; Unscored if the examination is empty."""
    answer = whole_answer(second)
    if isinstance(answer, Unscored):
        return answer
    value = json_within(answer, EXAMINATION)
    said = value.pop(EXAMINATION, "") if value else ""
    written = "\n".join(map(str, said)) if isinstance(said, list) else str(said)
    own = own_text(f"{text_around_json(answer, EXAMINATION)}\n{written}".strip() if value else answer, prompt)
    if isinstance(own, Unscored):
        return Unscored(reason=UNEXAMINED)
    return (second.model_copy(update={"text": json.dumps(value)}) if value else second), own
