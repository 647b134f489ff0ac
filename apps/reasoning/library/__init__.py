"""Lemmascope as a library: search for proofs and grade scripts with any OpenAI-compatible server (docs/library.md).

Installed, this package is `lemmascope`. It needs no Django, broker or engine.
"""

try:
    from apps.reasoning.domain.errors import PlanError, ReasoningError, RunHalted
except ModuleNotFoundError as error:
    if error.name != "apps.reasoning":
        raise
    raise ImportError(
        "Another package named `apps` hides the one that lemmascope brings. Start Python in another folder, or rename yours."
    ) from error

from apps.reasoning.domain.event_base import Event
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.version import VERSION

from .grading import agrade, grade
from .options import RunOptions
from .program_run import CallText, ProgramRun
from .results import FailedCall, GradeResult, RunResult, SolveResult, UnreadAnswer
from .solving import asolve, solve

__all__ = [
    "GRADERS",
    "SCAFFOLDS",
    "VERSION",
    "CallText",
    "Event",
    "FailedCall",
    "GradeResult",
    "PlanError",
    "ProgramRun",
    "ReasoningError",
    "RunHalted",
    "RunOptions",
    "RunResult",
    "SolveResult",
    "UnreadAnswer",
    "agrade",
    "asolve",
    "grade",
    "solve",
]
