"""The libraries that a turn may search; the tools as native functions, for aliases with `tools = "native"` (docs/models.md).

Source: AlphaApollo App. B (reasoning notes §8). The prompt explains their use. Submitting a proof is not a function, because
models lose backslashes in JSON strings.
"""

from apps.reasoning.domain.generation import OfferedTool
from apps.reasoning.reading.turns.actions import LEMMAS, LIBRARIES, THEOREMS
from apps.reasoning.scaffolds.alpha_apollo.params import Params
from apps.reasoning.scaffolds.running.check_tool import FUNCTION

_PYTHON = OfferedTool(
    name="python_code",
    description="Runs Python code in a fresh process and returns what it prints.",
    parameters={
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The code, whole."}},
        "required": ["code"],
        "additionalProperties": False,
    },
)


def _search_in(libraries: tuple[str, ...]) -> OfferedTool:
    return OfferedTool(
        name="local_rag",
        description="Looks into the documentation of a Python library, or into a collection of lemmas.",
        parameters={
            "type": "object",
            "properties": {
                "library": {"type": "string", "enum": list(libraries), "description": "Where to look."},
                "query": {"type": "string", "description": "What you want to know, in general words."},
            },
            "required": ["library", "query"],
            "additionalProperties": False,
        },
    )


_DOCUMENTED = (*LIBRARIES, THEOREMS)
FUNCTIONS = (_PYTHON, _search_in(_DOCUMENTED))


def libraries_of(params: Params) -> tuple[str, ...]:
    """The libraries that a model may name."""
    return _DOCUMENTED if params.earlier_lemmas == "none" else (*_DOCUMENTED, LEMMAS)


def functions_of(params: Params) -> tuple[OfferedTool, ...]:
    """The functions of a turn."""
    offered = FUNCTIONS if params.earlier_lemmas == "none" else (_PYTHON, _search_in(libraries_of(params)))
    return (*offered, FUNCTION) if params.check_tool else offered
