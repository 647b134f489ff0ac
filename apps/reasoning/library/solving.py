"""Search for a proof by a scaffold."""

from collections.abc import Mapping
from typing import Any, Unpack

from apps.reasoning.domain.errors import PlanError
from apps.reasoning.domain.tools import scope_of
from apps.reasoning.programs.registry import SCAFFOLDS

from .arguments import params_of, problem_of
from .options import CheckedOptions, RunOptions
from .program_run import ProgramRun, blocking
from .results import SolveResult, solve_result


def asolve(
    problem: str,
    *,
    scaffold: str,
    preset: str = "",
    params: Mapping[str, Any] | None = None,
    answer: str = "",
    **options: Unpack[RunOptions],
) -> ProgramRun[SolveResult]:
    """A search for a proof of `problem`: await it for its `SolveResult`, or iterate over it for its events.

    `scaffold` is one of `SCAFFOLDS`; `preset` one of its presets, else its defaults; `params` change single parameters.
    `answer` is the problem's final answer, where it has one: it enters no prompt. `options`: `RunOptions`. Raises `PlanError`.
    """
    if scaffold not in SCAFFOLDS:
        raise PlanError("scaffold", f"There is no scaffold {scaffold}; there are {', '.join(SCAFFOLDS)}.", scaffold)
    program = SCAFFOLDS[scaffold]
    read, stated = params_of(program, preset, params or {}), problem_of(problem, answer)
    if scope_of(read.model_dump()) != "none":
        raise PlanError(
            "parameter", "earlier_lemmas needs the application: the library keeps no earlier runs.", "earlier_lemmas"
        )
    if refused := program.cannot_run(stated, read):
        raise PlanError("scaffold", refused, scaffold)
    return ProgramRun(program, stated, read, CheckedOptions.of(options), solve_result, preset=preset)


solve = blocking(asolve, "solve", "As `asolve`, run to its end. Raises `PlanError`, and `RunHalted` where it stops early.")
