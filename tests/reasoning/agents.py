"""Texts of models that act in turns, and a tool that answers them."""

import json
from collections.abc import Callable, Mapping

from apps.reasoning.domain.generation import Final, GenerationRequest
from apps.reasoning.domain.tools import Execution
from tests.reasoning.play import Answer, final

Table = Mapping[str, Answer | Callable[[GenerationRequest], Answer]]


def python(code: str) -> str:
    return f"Let us see.\n<python_code>\n{code}\n</python_code>"


def called(name: str, arguments: object) -> str:
    """A function call as it is written in a text; `arguments` given as text are written unchanged."""
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return f'<tool_call>\n{{"name": "{name}", "arguments": {given}}}\n</tool_call>'


def ask(query: str = "solve an equation", library: str = "sympy") -> str:
    return f'<local_rag>{{"library": "{library}", "query": "{query}"}}</local_rag>'


def solution(*steps: str) -> str:
    return "<answer>\n" + "\n".join(f"<step>{step}</step>" for step in steps) + "\n</answer>"


def solved(request: GenerationRequest) -> str:
    """A solution that says which call wrote it."""
    return solution(f"This is what {request.key} wrote.", "So the claim holds.")


def report(value: int, why: str = "I tried small cases.") -> str:
    return f"<report>{why}\n{value}</report>"


def printed(text: str, **changes: object) -> Final:
    """What a tool answers."""
    return final(Execution.model_validate({"stdout": text} | changes).model_dump_json())


def raised(line: str) -> Final:
    return printed(
        "", stderr=f'Traceback (most recent call last):\n  File "<code>", line 1\n{line}', error="exception", exit_code=1
    )


_HIT = {"library": "sympy", "name": "sympy.solve", "signature": "(f, *symbols)", "text": "Solves equations.", "score": 3.0}
HITS = printed(json.dumps({"hits": [_HIT]}))
CHECKPOINTS = "<checkpoints>1. Set up. 2. Computed: 4.</checkpoints>"
SUMMED = "<judgement>All agree.</judgement>"
_FOLLOWS: dict[str, Answer | Callable[[GenerationRequest], Answer]] = {
    "*/python": printed("4\n"),
    "*/search": HITS,
    "*/rewrite": "<query>solve a polynomial equation</query>",
    "*/lookup/summarise": "<summary>Call sympy.solve.</summary>",
    "condense/*": CHECKPOINTS,
    "sum-up/*": SUMMED,
    "judge/*": report(1),
    "solve/*": solved,
}


def follows(table: Table) -> dict[str, Answer | Callable[[GenerationRequest], Answer]]:
    """`table`, which comes first, and for all else a model that answers at once and evaluators that pass everything."""
    return {**table, **{pattern: answer for pattern, answer in _FOLLOWS.items() if pattern not in table}}
