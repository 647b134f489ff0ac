"""A JSON Schema as a regular expression: the JSON cannot contain endless white space, and every backslash is doubled."""

import json
import re
from typing import Any

import pytest

from apps.reasoning.domain.errors import RequestRejected
from workers.engines.schemas import compact_regex

STEPS = {"type": "object", "properties": {"steps": {"type": "array", "items": {"type": "string"}}}, "required": ["steps"]}
SCORE = {"type": "object", "properties": {"score": {"enum": [0, 0.5, 1]}}, "required": ["score"]}


def fits(schema: dict[str, Any], text: str) -> bool:
    return re.fullmatch(compact_regex(json.dumps(schema)), text) is not None


def test_json_of_the_schema_matches_with_at_most_one_space() -> None:
    assert fits(SCORE, '{"score":0.5}')
    assert fits(SCORE, '{ "score" : 1 }')
    assert not fits(SCORE, '{"score":\n\n\n1}')
    assert not fits(SCORE, '{"score":2}')


def test_a_formula_matches_only_with_its_backslashes_doubled() -> None:
    assert fits(STEPS, json.dumps({"steps": [r"Then $\frac{n}{2}\neq 0$.", "So “é” ≥ 1."]}, ensure_ascii=False))
    assert not fits(STEPS, r'{"steps": ["\frac"]}')
    assert not fits(STEPS, r'{"steps": ["\neq"]}')


def test_an_invalid_schema_is_rejected() -> None:
    with pytest.raises(RequestRejected, match="JSON schema of the request is invalid"):
        compact_regex(json.dumps({"type": "no-such-type"}))
