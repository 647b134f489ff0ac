"""The tools of a turn as native functions, for aliases with `tools = "native"` (docs/models.md).

Source: AlphaApollo App. B (reasoning notes §8). The prompt explains their use. Submitting a proof is not a function, because
models lose backslashes in JSON strings.
"""

from apps.reasoning.domain.generation import OfferedTool
from apps.reasoning.reading.turns.actions import LIBRARIES, THEOREMS

FUNCTIONS = (
    OfferedTool(
        name="python_code",
        description="Runs Python code in a fresh process and returns what it prints.",
        parameters={
            "type": "object",
            "properties": {"code": {"type": "string", "description": "The code, whole."}},
            "required": ["code"],
            "additionalProperties": False,
        },
    ),
    OfferedTool(
        name="local_rag",
        description="Looks into the documentation of a Python library, or into a collection of lemmas.",
        parameters={
            "type": "object",
            "properties": {
                "library": {"type": "string", "enum": [*LIBRARIES, THEOREMS], "description": "Where to look."},
                "query": {"type": "string", "description": "What you want to know, in general words."},
            },
            "required": ["library", "query"],
            "additionalProperties": False,
        },
    ),
)
