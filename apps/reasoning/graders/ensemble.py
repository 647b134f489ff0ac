"""The mean of several graders of one script. They share prepared pieces, so that each is made once.

Source: RefGrader §5.4: the best mix was three steps, rubric, approachability and milestones.
"""

from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Annotated

from pydantic import Field, field_validator

from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored
from apps.reasoning.graders import single_turn
from apps.reasoning.graders.grader import Grader, concluded, costs
from apps.reasoning.graders.grading import Grading, as_pass, mean_points
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.graders.judging.judging import graded, published
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.pieces.references import Matched, matched, rubric_of
from apps.reasoning.graders.view import GUIDELINES, View
from apps.reasoning.graders.with_references import BY_REFERENCE, DESIGNING, MANNERS, PREPARING, REF3, TYPICAL, calls_of
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset

NAME = "ensemble"
MEMBERS = (single_turn.NAME, *BY_REFERENCE)
BEST = ("ref3", "ref5_plain", "ref5_approachability", "ref5_milestones")


class Params(Material):
    """The members of the ensemble, with equal weights."""

    members: Annotated[tuple[str, ...], Field(min_length=2, max_length=len(MEMBERS))] = Field(
        default=BEST, title="Members", description="Graders whose mean is proposed."
    )

    @field_validator("members")
    @classmethod
    def _known(cls, members: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted(set(members) - set(MEMBERS)):
            raise ValueError(f"{', '.join(unknown)} cannot be a member; choose from {', '.join(MEMBERS)}")
        if len(set(members)) < len(members):
            raise ValueError("duplicate member")
        return members


def may_show(params: Params) -> frozenset[str]:
    """Parts that at least one member may be shown; each member sees those it supports."""
    return frozenset({GUIDELINES} if {single_turn.NAME, REF3} & set(params.members) else ())


async def grade(desk: GraderDesk, members: tuple[str, ...]) -> Grading:
    """Prepare pieces in sequence, so that none is made twice; then grade concurrently and take the mean."""
    reference = await matched(desk) if set(members) & set(BY_REFERENCE) else Unread(reason="no reference is needed")
    if isinstance(reference, Matched):
        for name in members:
            if name in MANNERS:
                await rubric_of(desk, reference, MANNERS[name])
    gradings = await concurrently(_member(desk, name, reference) for name in members)
    passes = tuple(as_pass(name, one) for name, one in zip(members, gradings, strict=True))
    mean = mean_points(passes)
    if isinstance(mean, Unscored):
        raw = next((one.raw for one in gradings if one.raw), "")
        return Grading(workflow=NAME, unscored=mean.reason, raw=raw, passes=passes, suspicious=desk.suspicious)
    missing = [one.name for one in passes if one.points is None]
    nearest = min((one for one in gradings if one.points is not None), key=partial(_apart, mean))
    remark = f"Findings are those of {nearest.workflow}, which is nearest to the mean."
    if missing:
        remark += f" Not counted, since unscored: {', '.join(missing)}."
    remark = f"{remark} {nearest.remarks}".strip()
    notes = nearest.model_copy(update={"workflow": NAME, "points": mean, "passes": passes, "remarks": remark})
    return notes.model_copy(update={"items": (), "ticks": (), "computed": None})


def _apart(mean: Decimal, one: Grading) -> Decimal:
    # 0 points are points; only a grading without points has no distance.
    return Decimal("Infinity") if one.points is None else abs(one.points - mean)


async def _member(desk: GraderDesk, name: str, reference: Matched | Unread) -> Grading:
    if name == single_turn.NAME:
        grading = await single_turn.grade(desk, f"grade/{name}")
    elif isinstance(reference, Unread):
        grading = graded(desk, name, reference)
    else:
        grading = await BY_REFERENCE[name](desk, reference)
    return published(desk, f"member/{name}", grading)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Run every member and take the mean."""
    return await concluded(problem, ctx, params, NAME, lambda desk: grade(desk, params.members))


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """All members together: sorting and matching once, an analysis per kind, a rubric and a grading per member."""
    manners = [MANNERS[name] for name in params.members if name in MANNERS]
    analyses = len({manner.is_scored for manner in manners})
    calls = calls_of(params, analyses, len(manners), len(params.members))
    if not set(params.members) & set(BY_REFERENCE):
        calls = {"grader": calls["grader"]}
    everyone = {role: calls.get(role, (0, 0, 0)) for role in TYPICAL}
    return costs(everyone, TYPICAL, max_new_tokens, "Likely: every answer is readable; prepared pieces are reused.")


WORKFLOW = Grader(
    name=NAME,
    title="Ensemble",
    description="Several graders mark the script and share the pieces prepared from the references; their mean is proposed.",
    source="RefGrader §5.4",
    params=Params,
    presets={"original": Preset("Best mix", "Three steps, rubric, approachability, milestones.", Params(script=""))},
    roles=(*PREPARING, *DESIGNING, single_turn.GRADER),
    solve=solve,
    estimate=estimate,
    needs=frozenset({"references"}),
    view=View(reference=True),
    may_show=may_show,
)
