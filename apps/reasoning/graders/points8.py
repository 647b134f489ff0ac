"""Fine-grained grading points, judged in several independent runs; the mean of their totals.

Source: Intern-S1-MO, App. D: a list of grading points with a title and what each requires; eight runs; partial credit only for
points worth more than 1.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from pydantic import Field

from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored
from apps.reasoning.graders.grader import Grader, concluded, costs
from apps.reasoning.graders.grading import Grading, as_pass, mean_points
from apps.reasoning.graders.judging.asking import GraderDesk
from apps.reasoning.graders.judging.judging import Worth, graded, items_read, published
from apps.reasoning.graders.judging.said import GradingSaid
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.single_turn import GRADER, GRADER_TOKENS
from apps.reasoning.graders.view import View
from apps.reasoning.graders.with_scheme import refuses as broken
from apps.reasoning.marking.schemes.scheme import Kind, Scheme, points_text
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset

NAME = "points8"
ONE = Decimal(1)


class Params(Material):
    """Paper letter: N runs."""

    runs: int = Field(default=8, ge=1, le=64, title="Runs", description="Independent gradings whose mean is proposed (N).")


def grading_points(scheme: Scheme) -> tuple[Worth, ...]:
    """The scheme's items: all or nothing up to 1 point, in the scheme's steps above."""
    return tuple(
        Worth(
            code=item.code,
            title=item.text,
            points=item.points,
            grid=scheme.step if item.points > ONE else item.points,
        )
        for item in scheme.items
    )


def refuses(material: Material) -> str:
    """Refuse schemes that are not a plain list of points, whose sum would be meaningless."""
    scheme = material.scheme
    if scheme is None:
        return ""
    is_plain = not scheme.chains and all(
        item.kind is Kind.CHECKPOINT and not (item.group or item.requires or item.excludes) for item in scheme.items
    )
    if not is_plain or sum(item.points for item in scheme.items) != scheme.scale:
        return "Grading points need a scheme that is a plain list summing to its scale: no chains, groups, deductions or caps."
    return broken(material)


async def _run(desk: GraderDesk, scheme: Scheme, worth: Sequence[Worth], number: int) -> Grading:
    listed = "\n".join(f"{one.code}, {points_text(one.points)} points. {one.title}" for one in worth)
    read = items_read(desk, worth, scheme.scale)
    said = await desk.ask(
        f"grade/points/{number}",
        role="grader",
        prompt="grading/by_points",
        values={
            "fallacies": load("grading/forms/fallacies").system,
            "rubric": desk.desk.content(listed),
            "script": desk.script,
        },
        form="items",
        shape=GradingSaid,
        read=read,
        again=read.again,
        ending=desk.marks,
        place=Place(subject="grade", index=number),
    )
    grading = graded(desk, NAME, said, worth).model_copy(update={"scale": scheme.scale})
    return published(desk, f"run/{number}", grading)


async def grade(desk: GraderDesk, scheme: Scheme, runs: int) -> Grading:
    """Make all runs concurrently; take their mean, with items and findings of the run nearest to it."""
    worth = grading_points(scheme)
    gradings = await concurrently(_run(desk, scheme, worth, number) for number in range(1, runs + 1))
    passes = tuple(as_pass(f"run {number}", one) for number, one in enumerate(gradings, 1))
    mean = mean_points(passes)
    if isinstance(mean, Unscored):
        raw = next((one.raw for one in gradings if one.raw), "")
        return Grading(
            workflow=NAME, scale=scheme.scale, unscored=mean.reason, raw=raw, passes=passes, suspicious=desk.suspicious
        )
    distance = [abs(one.points - mean) if one.points is not None else scheme.scale * 2 for one in gradings]
    nearest = distance.index(min(distance))
    remark = f"Items and findings are those of run {nearest + 1}, which is nearest to the mean."
    remarks = f"{remark} {gradings[nearest].remarks}".strip()
    return gradings[nearest].model_copy(update={"points": mean, "passes": passes, "remarks": remarks})


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Examine several times and take the mean."""

    async def all_runs(desk: GraderDesk) -> Grading:
        if params.scheme is None:
            return Grading(workflow=NAME, unscored="there are no grading points")
        return await grade(desk, params.scheme, params.runs)

    return await concluded(problem, ctx, params, NAME, all_runs)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call per run, and one more if its answer is unreadable."""
    calls = {"grader": (0, params.runs, params.runs)}
    return costs(calls, {"grader": GRADER_TOKENS}, max_new_tokens, "Likely: every answer is readable.")


WORKFLOW = Grader(
    name=NAME,
    title="Grading points, eight runs",
    description="Points for every item of a plain list, judged eight times independently; the mean is proposed.",
    source="Intern-S1-MO, App. D",
    params=Params,
    presets={"original": Preset("Original", "Eight runs.", Params(script=""))},
    roles=(GRADER,),
    solve=solve,
    estimate=estimate,
    needs=frozenset({"scheme"}),
    view=View(scheme=True),
    refuses=refuses,
)
