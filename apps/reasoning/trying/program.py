"""Try a model on one problem: every role of every program once with each authored attempt that fits it.

This is a run like any other: its calls are journaled, streamed and counted, and a killed run continues where it was.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.trial_events import RoleTried
from apps.reasoning.domain.values import Value
from apps.reasoning.graders.grader import Grader
from apps.reasoning.graders.material import Material
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.ports import Context
from apps.reasoning.programs.registry import PROGRAMS
from apps.reasoning.prompts import loader
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Role, Scaffold
from apps.reasoning.trying.material import Attempt
from apps.reasoning.trying.stage import MODEL, Asked
from apps.reasoning.trying.trial import kinds_for, methods, params_of, tried

NAME = "try_model"
TYPICAL = (1_500, 700)
#: Share of answers with a separate call; the others share a prompt with another role.
OWN_CALLS = 0.6


class Params(Value):
    """The attempts at the problem, and the programs whose roles are tried; all if none is named."""

    attempts: Annotated[tuple[Attempt, ...], Field(min_length=1)]
    methods: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    scheme: Scheme | None = None
    limit: Annotated[int, Field(ge=1)] = 4_096

    @field_validator("methods")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [name for name in names if name not in methods()]:
            raise ValueError(f"there is no scaffold or grader {unknown[0]}; there are {', '.join(methods())}")
        return names

    @model_validator(mode="after")
    def _has_a_right_attempt(self) -> Self:
        if all(one.kind != "right" for one in self.attempts):
            raise ValueError("at least one of the attempts must be right")
        return self

    @property
    def material(self) -> dict[str, Any]:
        """The material supplied with the problem in addition to an attempt."""
        return {"references": self.references, "scheme": self.scheme and self.scheme.model_dump()}

    def of_kind(self, kind: str) -> Attempt | None:
        """The first attempt of a kind."""
        return next((one for one in self.attempts if one.kind == kind), None)


def trials(problem: ProblemText, params: Params) -> list[tuple[str, Role, Attempt]]:
    """The trials in a fixed order: method, role, attempt. Programs that cannot run on the problem and roles unused by a preset
    are left out."""
    found: list[tuple[str, Role, Attempt]] = []
    for method in params.methods or methods():
        playing = _playing(method, problem, params)
        for role in (role for role in PROGRAMS[method].roles if role.name in playing):
            shown = (params.of_kind(kind) for kind in kinds_for(role.name))
            found.extend((method, role, attempt) for attempt in shown if attempt is not None)
    return found


def _playing(method: str, problem: ProblemText, params: Params) -> frozenset[str]:
    """The roles that a method may use on this problem; none if it cannot run."""
    program, given = PROGRAMS[method], params_of(method, params.attempts[0], params.material)
    refused = program.lacks(given) if isinstance(program, Grader) and isinstance(given, Material) else ""
    if refused or program.cannot_run(problem, given):
        return frozenset()
    return frozenset(one.role for one in program.estimate(given).roles if one.calls_max)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Try every role, and emit the result of each answer."""
    asked, results = Asked(ctx), list[RoleTried]()

    async def one(method: str, role: Role, attempt: Attempt) -> None:
        given = params_of(method, attempt, params.material)
        if result := await tried(asked, problem, method, role, attempt, given, params.limit):
            ctx.emit(f"tried/{method}/{role.name}/{attempt.kind}", result)
            results.append(result)

    try:
        await concurrently(one(*trial) for trial in trials(problem, params))
    except BudgetExhausted:
        return _outcome(results, "budget")
    finally:
        asked.close()
    return _outcome(results, "exhausted")


def _outcome(results: list[RoleTried], ended_by: str) -> Outcome:
    read = sum(one.reading in ("at once", "again", "declined") for one in results)
    reason = f"{read} of {len(results)} answers were read." if results else "No answer came."
    return Outcome.model_validate({"accepted": None, "reason": reason, "ended_by": ended_by})


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call per distinct prompt, and possibly a second request."""
    count = sum(len(kinds_for(role.name)) for method in params.methods or methods() for role in PROGRAMS[method].roles)
    return estimated(
        fewest={MODEL: 1},
        likely={MODEL: max(1, round(OWN_CALLS * count))},
        most={MODEL: 2 * count},
        typical={MODEL: TYPICAL},
        limits=max_new_tokens,
        assumptions="Likely: four of ten answers share a prompt with another role, and few are requested again.",
    )


class _Trying(Scaffold):
    """A scaffold that uses the prompts of all programs."""

    @property
    def prompts(self) -> dict[str, str]:
        """SHA-256 by name of every prompt that it may use."""
        names = {name.split("/")[0] for program in methods() for name in PROGRAMS[program].prompts}
        return {name: sha for folder in sorted(names) for name, sha in loader.hashes(folder).items()}


PROGRAM = _Trying(
    name=NAME,
    title="Model",
    description="Tries every role of every scaffold and grader once with each suitable authored attempt.",
    source="",
    params=Params,
    presets={},
    roles=(Role(MODEL, "Model", "Plays every role once.", 65_536),),
    solve=solve,
    estimate=estimate,
)
