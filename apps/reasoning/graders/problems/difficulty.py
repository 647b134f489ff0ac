"""Difficulty of a problem for a model: the mean points of many independent attempts, each graded like a script.

An attempt is a single call or a run of a whole scaffold. Between groups of attempts, a control point allows a pause or an
early end with the attempts so far.
Source: QED-Nano §3: 128 attempts of the model to be trained, graded by another model with the marking scheme.
"""

from collections.abc import Mapping
from decimal import Decimal
from math import sqrt
from statistics import fmean, stdev
from typing import Annotated, Any, Self

from pydantic import Field, field_validator, model_validator

from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.grading_events import DifficultyFound
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders import points8, single_turn, with_scheme
from apps.reasoning.graders.grader import costs
from apps.reasoning.graders.grading import SEVEN, Grading
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.graders.judging.judging import published
from apps.reasoning.graders.material import REFERENCES_AT_MOST, SCRIPT_LENGTH, Material
from apps.reasoning.graders.pieces.preparing import prepare, preparing_calls
from apps.reasoning.graders.pieces.references import clusters_of
from apps.reasoning.graders.problems.attempting import ATTEMPTING, attempted, attempting_estimate, attempting_roles
from apps.reasoning.graders.problems.preparer import Preparer
from apps.reasoning.graders.problems.within import Within
from apps.reasoning.graders.single_turn import GRADER, GRADER_TOKENS
from apps.reasoning.graders.with_references import BY_REFERENCE, DESIGNING, MANNERS, PREPARING, TYPICAL, grade_with_references
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.candidates.desk import Candidate, Desk
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset, Role

NAME = "difficulty"
ATTEMPTS, ATTEMPTS_AT_MOST = 128, 1024
#: Attempts between two control points.
GROUP = 16
SOLVER_TOKENS = (1_000, 16_000)
Z95 = 1.96
ASSUMED = "Likely: every attempt produces a text, and every answer is readable."
BY_SCHEME = (with_scheme.NAME, points8.NAME)
#: Graders for attempts. Those with references prepare their pieces once, before the first attempt.
WORKFLOWS = (with_scheme.NAME, single_turn.NAME, points8.NAME, *BY_REFERENCE)
SOLVER = Role("solver", "Solver", "Attempts the problem many times.", 65_536, 0.8)


class Params(Material):
    """Number, method and grading of the attempts. The script stays empty.

    `scaffold` with its parameters `attempt` makes the attempts; if it is empty, a single call does.
    """

    script: Annotated[str, Field(max_length=SCRIPT_LENGTH)] = ""
    attempts: Annotated[int, Field(ge=2, le=ATTEMPTS_AT_MOST)] = ATTEMPTS
    workflow: str = "scheme"
    runs: Annotated[int, Field(ge=1, le=64)] = 8
    scaffold: str = ""
    attempt: dict[str, Any] = {}

    @field_validator("workflow")
    @classmethod
    def _grades_attempts(cls, workflow: str) -> str:
        if workflow not in WORKFLOWS:
            raise ValueError(f"{workflow} cannot grade attempts; choose one of {', '.join(WORKFLOWS)}")
        return workflow

    @model_validator(mode="after")
    def _check_attempts(self) -> Self:
        if self.scaffold and self.scaffold not in ATTEMPTING:
            raise ValueError(f"{self.scaffold} cannot make attempts; choose one of {', '.join(ATTEMPTING)}")
        if self.scaffold:
            ATTEMPTING[self.scaffold].read_params(self.attempt)
        return self


def attempting_by(scaffold: str, preset: str = "") -> tuple[Role, ...]:
    """The roles that make attempts: those of a scaffold with the temperatures of a preset, or of a single call."""
    return attempting_roles(scaffold, preset) if scaffold else (SOLVER,)


def grading_by(workflow: str) -> tuple[Role, ...]:
    """The roles that grade attempts and prepare the grading."""
    preparing = PREPARING if workflow in BY_REFERENCE else ()
    return (*preparing, *(DESIGNING if workflow in MANNERS else ()), GRADER)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Make attempts, grade them, and take the mean of those with points."""
    desk = Desk(problem, ctx, params.structured)
    graded: dict[int, Grading] = {}
    ended_by = "exhausted"
    grader = GraderDesk(desk, params)
    try:
        if params.workflow in BY_REFERENCE and (lost := await _prepared(grader, params.workflow)):
            reason = f"The references could not be prepared: {lost[0]}."
            return Outcome.model_validate({"accepted": None, "reason": reason, "ended_by": "nothing-readable"})
        for start in range(1, params.attempts + 1, GROUP):
            if await desk.steer(f"attempts/{start}"):
                ended_by = "written-up"
                break
            numbers = range(start, min(start + GROUP, params.attempts + 1))
            if any(await concurrently(_attempt(grader, params, number, graded) for number in numbers)):
                ended_by = "budget"
                break
    except BudgetExhausted:
        ended_by = "budget"
    if not graded:
        return Outcome.model_validate({"accepted": None, "reason": "No attempt was finished.", "ended_by": ended_by})
    found = _mean([graded[number] for number in sorted(graded)])
    ctx.emit("grading/difficulty", found)
    if found.mean is None:
        ended_by = "nothing-readable" if ended_by == "exhausted" else ended_by
    return Outcome.model_validate({"accepted": None, "reason": sentence(found), "ended_by": ended_by})


def sentence(found: DifficultyFound) -> str:
    """The result in words."""
    scored = sum(points is not None for points in found.points)
    of = f"{scored} of {found.attempts} attempts have points"
    if found.mean is None:
        return f"The difficulty is unknown: {of}."
    return f"{found.mean:.2f} of {found.scale:g} points on average; {of}."


async def _prepared(desk: GraderDesk, workflow: str) -> list[str]:
    """Make the pieces shared by all gradings with references; return the reasons of failures."""
    if workflow in MANNERS:
        return await prepare(desk, (workflow,), REFERENCES_AT_MOST)
    clusters = await clusters_of(desk)
    return [clusters.reason] if isinstance(clusters, Unread) else []


async def _attempt(shared: GraderDesk, params: Params, number: int, graded: dict[int, Grading]) -> bool:
    """Make one attempt and store its grading in `graded`; return whether the budget ended it before there was a text.

    An attempt without a proof has 0 points; a failed call is no attempt. A proof that the budget leaves ungraded is stored
    without points, because attempts without a proof would otherwise weigh too much.
    """
    ctx = Within(shared.desk.ctx, f"attempt/{number}")
    desk = Desk(shared.desk.problem, ctx, params.structured, list(shared.desk.hints))
    if params.scaffold:
        found = await attempted(desk.problem, shared.desk.ctx, f"attempt/{number}/by", params.scaffold, params.attempt)
        text, is_over = found.text, found.is_over and not found.text
        desk.refusals += [found.reason] if found.reason else []
    else:
        text, is_over = written_text(await _written(desk, params, number)), False
    if is_over:
        return True
    grader = GraderDesk(desk, _material(params, text), made=dict(shared.made))
    try:
        grading = await _graded(grader, params) if text else _without_text(desk, params)
    except BudgetExhausted:
        graded[number] = Grading(
            workflow=params.workflow, scale=_scale(params), unscored="the budget ended before it was graded"
        )
        raise
    graded[number] = published(grader, f"attempt/{number}", grading)
    return False


def _material(params: Params, text: str) -> Material:
    return Material(
        script=text,
        references=params.references,
        scheme=params.scheme,
        guidelines=params.guidelines,
        view=params.view,
        prepared=params.prepared,
        structured=params.structured,
    )


async def _written(desk: Desk, params: Params, number: int) -> Candidate | None:
    return await desk.draft(
        "solve",
        f"c1.{number}",
        role="solver",
        prompt="shared/solver",
        made_as="solution",
        place=Place(round=(number - 1) // GROUP + 1, index=number),
        values={"attempt": str(number), "attempts": str(params.attempts)},
    )


def written_text(written: Candidate | None) -> str:
    """The attempt as a script."""
    return "\n\n".join(written.steps) if written else ""


def _without_text(desk: Desk, params: Params) -> Grading:
    reason, scale = desk.refusals[-1] if desk.refusals else "nothing was written", _scale(params)
    if reason.startswith("the call failed"):
        return Grading(workflow=params.workflow, scale=scale, unscored=reason)
    return Grading(workflow=params.workflow, scale=scale, points=Decimal(0), remarks=f"No proof was handed in: {reason}.")


def _scale(params: Params) -> Decimal:
    return params.scheme.scale if params.scheme and params.workflow in BY_SCHEME else SEVEN


async def _graded(desk: GraderDesk, params: Params) -> Grading:
    if params.workflow == single_turn.NAME:
        return await single_turn.grade(desk)
    if params.workflow in BY_REFERENCE:
        return await grade_with_references(desk, params.workflow)
    if params.scheme is None:
        return Grading(workflow=params.workflow, unscored="there is no marking scheme")
    if params.workflow == points8.NAME:
        return await points8.grade(desk, params.scheme, params.runs)
    return await with_scheme.grade(desk, params.scheme, strict=True)


def _mean(graded: list[Grading]) -> DifficultyFound:
    """The mean with its normal interval; None if fewer than half of the attempts have points."""
    points = tuple(None if one.points is None else float(one.points) for one in graded)
    given = [one for one in points if one is not None]
    scale = float(graded[0].scale)
    found = DifficultyFound(
        attempts=len(graded),
        points=points,
        scale=scale,
        unwritten=sum(one.remarks.startswith("No proof was handed in") for one in graded),
    )
    if 2 * len(given) < len(graded) or not given:
        return found
    mean = fmean(given)
    if len(set(given)) == 1:
        # Equal points give no information on the error of the mean; a normal interval would be a point.
        return found.model_copy(update={"mean": mean})
    half = Z95 * stdev(given) / sqrt(len(given))
    return found.model_copy(update={"mean": mean, "low": max(0.0, mean - half), "high": min(scale, mean + half)})


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Each attempt is written once and graded once or, by grading points, in several runs."""
    each = params.runs if params.workflow == points8.NAME else 1
    gradings = params.attempts * each
    calls = {"grader": (0, gradings, gradings)}
    if params.workflow in BY_REFERENCE:
        several = int(sum(bool(one.strip()) for one in params.references) > 1)
        calls |= {"matcher": (0, several * params.attempts, several * params.attempts)}
        calls |= preparing_calls(params, (params.workflow,) if params.workflow in MANNERS else (), REFERENCES_AT_MOST)
    if not params.scaffold:
        calls = {"solver": (0, params.attempts, params.attempts)} | calls
    found = costs(calls, {**TYPICAL, "solver": SOLVER_TOKENS, "grader": GRADER_TOKENS}, max_new_tokens, ASSUMED)
    if not params.scaffold:
        return found
    return _together(attempting_estimate(params.scaffold, params.attempt, params.attempts, max_new_tokens), found)


def _together(attempts: Estimate, gradings: Estimate) -> Estimate:
    """The sum of both estimates."""
    names = ("calls_expected", "calls_max", "tokens_expected", "tokens_max")
    total = {name: getattr(attempts, name) + getattr(gradings, name) for name in names}
    words = f"{gradings.assumptions} Attempts: {attempts.assumptions}"
    return attempts.model_copy(update={**total, "roles": (*attempts.roles, *gradings.roles), "assumptions": words})


def lacks(params: Params) -> str:
    """The reason in words why it cannot run, or ""."""
    if params.workflow == single_turn.NAME:
        return ""
    if params.workflow in BY_REFERENCE:
        return "" if any(one.strip() for one in params.references) else "There is no reference solution to grade attempts with."
    if params.scheme is None:
        return "There is no marking scheme to grade attempts with; activate one, or grade them in a single turn."
    return (points8.refuses if params.workflow == points8.NAME else with_scheme.refuses)(params)


WORKFLOW = Preparer(
    name=NAME,
    title="Measured difficulty",
    description="Many graded attempts of a model; their mean points measure how hard the problem is for it.",
    source="QED-Nano §3",
    params=Params,
    presets={"original": Preset("128 attempts", "Graded with the marking scheme.", Params())},
    roles=(SOLVER, GRADER),
    solve=solve,
    estimate=estimate,
    lacks=lacks,
    cost_hint="The paper makes 128 attempts per problem.",
)
