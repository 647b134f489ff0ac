"""Preparation of a problem's references before scripts arrive: groups, and an analysis and rubrics for each.

The pieces are those that graders with references make; here a person can review them before scripts arrive.
Source: RefGrader §5.2.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, field_validator

from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.grading_events import GradingUnprepared
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders.grader import Range, costs
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.graders.material import REFERENCES_AT_MOST, SCRIPT_LENGTH, Material
from apps.reasoning.graders.pieces.references import Manner, Matched, analysis_of, clusters_of, references_given, rubric_of
from apps.reasoning.graders.pieces.slots import analysis_slot, clusters_slot, reference_digest
from apps.reasoning.graders.problems.preparer import Preparer
from apps.reasoning.graders.with_references import DESIGNING, MANNERS, PREPARING, TYPICAL
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset

NAME = "prepare"
ASSUMED = "Likely: every answer is readable, and the references form two groups; existing pieces are kept."


class Params(Material):
    """Which rubrics are wanted, and for how many groups, the commonest first. The script stays empty."""

    script: Annotated[str, Field(max_length=SCRIPT_LENGTH)] = ""
    manners: Annotated[tuple[str, ...], Field(min_length=1, max_length=len(MANNERS))] = ("ref5_approachability",)
    groups: Annotated[int, Field(ge=1, le=REFERENCES_AT_MOST)] = 3

    @field_validator("manners")
    @classmethod
    def _known(cls, manners: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := sorted(set(manners) - set(MANNERS)):
            raise ValueError(f"{', '.join(unknown)} makes no rubric; choose from {', '.join(MANNERS)}")
        return tuple(dict.fromkeys(manners))


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Sort the references, then analyse the representative of each group and make its rubrics. Failures are recorded."""
    desk = GraderDesk(Desk(problem, ctx, params.structured), params)
    try:
        lost = await prepare(desk, params.manners, params.groups)
    except BudgetExhausted as exhausted:
        return Outcome(accepted=None, reason=f"{str(exhausted).rstrip('.')}. What was prepared is kept.", ended_by="budget")
    count = len(desk.made)
    if not count and lost:
        return Outcome(accepted=None, reason=f"Nothing could be prepared: {lost[0]}.", ended_by="nothing-readable")
    missing = f" {len(lost)} could not be read." if lost else ""
    return Outcome(accepted=None, reason=f"{count} piece{'s' * (count != 1)} prepared.{missing}")


async def prepare(desk: GraderDesk, manners: tuple[str, ...], groups: int) -> list[str]:
    """Make all pieces for at most `groups` groups; return the reasons of failures."""
    clusters = await clusters_of(desk)
    if isinstance(clusters, Unread):
        return [_lost(desk, clusters_slot(desk.desk.problem.statement, references_given(desk)).name, clusters)]
    chosen = list(clusters.named.items())[:groups]
    references = references_given(desk)
    lost = await concurrently(
        _group(desk, Matched(name, references[cluster.representative - 1]), manners) for name, cluster in chosen
    )
    return [reason for reasons in lost for reason in reasons]


async def _group(desk: GraderDesk, reference: Matched, manners: tuple[str, ...]) -> list[str]:
    """Make the analyses and rubrics of one representative in sequence, so that each analysis is made once."""
    lost: dict[str, str] = {}
    for manner in (MANNERS[name] for name in manners):
        slot = analysis_slot(desk.desk.problem.statement, reference.text, manner.is_scored).name
        if slot in lost:
            continue
        analysis = await analysis_of(desk, reference, manner)
        if isinstance(analysis, Unread):
            lost[slot] = _lost(desk, slot, analysis)
            continue
        rubric = await rubric_of(desk, reference, manner)
        if isinstance(rubric, Unread):
            name = rubric_name(reference.text, manner)
            lost[name] = _lost(desk, name, rubric)
    return list(lost.values())


def rubric_name(reference: str, manner: Manner) -> str:
    """The name of a rubric's slot, which does not depend on the analysis."""
    return f"rubric/{reference_digest(reference)[:16]}/{manner.name}"


def _lost(desk: GraderDesk, slot: str, found: Unread) -> str:
    event = GradingUnprepared(slot=slot, reason=found.reason.rstrip("."), raw=found.raw)
    desk.desk.ctx.emit(f"grading/lost/{slot}", event)
    return event.reason


def preparing_calls(material: Material, manners: tuple[str, ...], groups: int) -> dict[str, Range]:
    """Sorting once; per group an analysis per kind and a rubric per manner, except for existing pieces."""
    references = sum(bool(one.strip()) for one in material.references)
    ready = {
        what: sum(name.startswith(f"{what}/") for name in material.prepared) for what in ("clusters", "analysis", "rubric")
    }
    likely, most = min(2, references, groups), min(references, groups)
    analyses, rubrics = len({MANNERS[name].is_scored for name in manners}), len(manners)
    several = int(references > 1)
    calls: dict[str, Range] = {"clusterer": (0, several * int(not ready["clusters"]), several)}
    if manners:
        calls["analyst"] = (0, max(0, likely * analyses - ready["analysis"]), most * analyses)
        calls["designer"] = (0, max(0, likely * rubrics - ready["rubric"]), most * rubrics)
    return calls


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """Estimate the pieces to prepare."""
    calls = preparing_calls(params, params.manners, params.groups)
    return costs(calls, {role: TYPICAL[role] for role in calls}, max_new_tokens, ASSUMED)


def lacks(params: Params) -> str:
    """The reason in words why it cannot run, or ""."""
    return "" if any(one.strip() for one in params.references) else "There is no reference to prepare."


WORKFLOW = Preparer(
    name=NAME,
    title="Prepared references",
    description="Sorts the references by their main steps, then analyses each group's representative and makes a rubric.",
    source="RefGrader §5.2",
    params=Params,
    presets={"original": Preset("Original", "Rubrics by approachability.", Params())},
    roles=(*(role for role in PREPARING if role.name == "clusterer"), *DESIGNING),
    solve=solve,
    estimate=estimate,
    lacks=lacks,
)
