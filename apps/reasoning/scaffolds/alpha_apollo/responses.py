"""Responses to a model after a tool call. Pure."""

import re

from apps.reasoning.domain.tools import Execution, ToolAnswer
from apps.reasoning.reading.turns.actions import LIBRARIES
from apps.reasoning.scaffolds.running.turns import MOST_SHOWN, cut

_LINES_OF_AN_ERROR = 12
_BLAMED = re.compile(r"(?:ImportError|ModuleNotFoundError|AttributeError|TypeError|ValueError)\b[^\n]{0,300}\Z")
_ENDED = {
    "timeout": "The code was stopped because it took too long. Use a faster method or a smaller case.",
    "memory": "The code was stopped because it needed too much memory.",
    "output": "The code was stopped because it printed too much. Print what you need and no more.",
    "killed": "The code was ended by a signal.",
    "exception": "The code raised an error.",
}


def code_response(answer: ToolAnswer, repairs: tuple[str, ...]) -> str:
    """The response to a piece of code."""
    if answer.is_off:
        return f"Code execution is not available in this run. {cut(answer.failure, 400)} Continue without it."
    if answer.execution is None:
        return f"The code was not run: {cut(answer.failure, 400)}"
    mended = [f"(Before running: {'; '.join(repairs)}.)"] if repairs else []
    return "\n".join([*mended, _output_shown(answer.execution)])


def _output_shown(done: Execution) -> str:
    printed = cut(done.stdout.rstrip(), MOST_SHOWN)
    if not done.error:
        return printed or "The code ran and printed nothing. Print what you want to see."
    error = "\n".join(cut(done.stderr.rstrip(), MOST_SHOWN).split("\n")[-_LINES_OF_AN_ERROR:])
    return "\n".join(part for part in (printed, _ENDED[done.error], error) if part)


def blamed_library(stderr: str, code: str) -> tuple[str, str] | None:
    """The library behind an error, and the error's line; None if documentation would not help.

    Source: AlphaApollo App. B.1: retrieval helps with wrong imports, attributes, types and values of library calls.
    """
    last = _BLAMED.search(stderr[-2000:].rstrip())
    if last is None:
        return None
    used = [name for name in LIBRARIES if re.search(rf"\b(?:import|from)\s+{name}\b", code)]
    named = next((name for name in used if name in last.group()), used[0] if used else "")
    return (named, last.group().strip()) if named else None
