"""A jury: judges on separate models; if their points differ too much, another round shows each the reports of the others.

The result is the distribution and its minimum, so that a judge who sees an overlooked fault is not outvoted. The defaults are
MathArena's: a second round if points differ by more than 2, then the minimum. MathArena also rewrites each proof in
neutral words first: `neutral`. Source: MathArena (github.com/eth-sri/matharena).
"""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from statistics import median
from typing import Literal

from pydantic import Field

from apps.reasoning.domain.generation import Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders import single_turn
from apps.reasoning.graders.grader import Grader, concluded, costs
from apps.reasoning.graders.grading import Grading, as_pass
from apps.reasoning.graders.judging.asking import GraderDesk
from apps.reasoning.graders.judging.judging import graded, published, total_read
from apps.reasoning.graders.judging.said import GradingSaid
from apps.reasoning.graders.material import Material
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset, Role

NAME = "jury"
JUDGES = ("judge_a", "judge_b", "judge_c")
Counts = Literal["minimum", "median", "mean"]
WORDS: dict[Counts, str] = {"minimum": "lowest", "median": "median", "mean": "mean"}
COUNTS: dict[Counts, Callable[[Sequence[Decimal]], Decimal]] = {
    "minimum": min,
    "median": median,
    "mean": lambda given: round(sum(given, Decimal(0)) / len(given), 2),
}
TITLES = {judge: f"Judge {judge[-1].upper()}" for judge in JUDGES}


class Params(Material):
    """When and how often the judges see each other's reports, and which points count."""

    spread: int = Field(
        default=2, ge=0, le=7, title="Spread", description="Largest difference of points that needs no further round."
    )
    more_rounds: int = Field(
        default=1, ge=0, le=4, title="More rounds", description="Most further rounds with the reports of the other judges."
    )
    counts: Counts = Field(default="minimum", title="Result", description="Statistic of the judges' final points.")


def spread_of(gradings: Sequence[Grading]) -> Decimal:
    """The difference between the highest and the lowest points given."""
    given = [one.points for one in gradings if one.points is not None]
    return max(given) - min(given) if given else Decimal(0)


def report_of(grading: Grading) -> str:
    """A judge's report for the other judges."""
    lines = [f"Points: {points_text(grading.points)}" if grading.points is not None else "No points that could be read."]
    lines += [f"Step {one.step}, {one.fallacy}, {one.severity}: {one.words}" for one in grading.findings]
    return "\n".join([*lines, grading.feedback]).strip()


async def grade(desk: GraderDesk, params: Params) -> Grading:
    """Run a round without reports, then rounds with reports while the points differ too much."""
    first = await concurrently(_alone(desk, judge) for judge in JUDGES)
    now = dict(zip(JUDGES, first, strict=True))
    rounds = 1
    while rounds <= params.more_rounds and spread_of(list(now.values())) > params.spread:
        rounds += 1
        again = await concurrently(_with_reports(desk, judge, now, rounds) for judge in JUDGES)
        # A judge with an unreadable later answer keeps the earlier one.
        now = {judge: later if later.points is not None else now[judge] for judge, later in zip(JUDGES, again, strict=True)}
    return _verdict(desk, now, rounds, params.counts)


def _verdict(desk: GraderDesk, now: Mapping[str, Grading], rounds: int, counts: Counts) -> Grading:
    passes = tuple(as_pass(TITLES[judge], one) for judge, one in now.items())
    scored = [one for one in now.values() if one.points is not None]
    if 2 * len(scored) <= len(now):
        reason = f"{f'only {len(scored)}' if scored else 'none'} of {len(now)} judges could be read"
        raw = next((one.raw for one in now.values() if one.raw), "")
        return Grading(workflow=NAME, unscored=reason, raw=raw, passes=passes, suspicious=desk.suspicious)
    points = COUNTS[counts]([one.points for one in scored if one.points is not None])
    nearest = min(scored, key=lambda one: abs((one.points or Decimal(0)) - points))
    after = f"{len(scored)} judges after {rounds} round{'s' if rounds > 1 else ''}"
    whose = "this judge's" if counts == "minimum" else "those of the judge nearest to it"
    remark = f"The {WORDS[counts]} of {after}; findings are {whose}."
    remarks = " ".join(part for part in (remark, nearest.remarks) if part)
    return nearest.model_copy(update={"workflow": NAME, "points": points, "passes": passes, "remarks": remarks})


async def _alone(desk: GraderDesk, judge: str) -> Grading:
    return published(desk, f"{judge}/1", await single_turn.grade(desk, f"{judge}/1", role=judge))


async def _with_reports(desk: GraderDesk, judge: str, now: Mapping[str, Grading], number: int) -> Grading:
    others = [(TITLES[other], report_of(one)) for other, one in now.items() if other != judge]
    read = total_read(desk)
    said = await desk.ask(
        f"{judge}/{number}",
        role=judge,
        prompt="grading/juror",
        values={
            "fallacies": load("grading/forms/fallacies").system,
            "script": desk.script,
            "own": desk.foreign(report_of(now[judge])),
            "others": desk.foreign_listed(others),
        },
        form="total",
        shape=GradingSaid,
        read=read,
        again=read.again,
        ending=desk.marks,
        place=Place(round=number, subject="grade"),
    )
    return published(desk, f"{judge}/{number}", graded(desk, NAME, said))


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Run three judges, with further rounds if they disagree."""
    return await concluded(problem, ctx, params, NAME, lambda desk: grade(desk, params), judge=JUDGES[0])


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call per judge, and one more per round while they disagree."""
    calls = dict.fromkeys(JUDGES, (1, 1, 1 + params.more_rounds))
    typical = dict.fromkeys(JUDGES, single_turn.GRADER_TOKENS)
    return costs(calls, typical, max_new_tokens, "Likely: the judges agree in the first round.")


WORKFLOW = Grader(
    name=NAME,
    title="Jury",
    description="Three judges, best on three models; if they disagree, each sees the others' reports. The lowest points count.",
    source="MathArena's jury",
    params=Params,
    presets={
        "original": Preset("Three judges", "One more round if points differ by more than 2.", Params(script="")),
        "matharena": Preset("MathArena", "The same, on a neutral rewriting of the script.", Params(script="", neutral=True)),
    },
    roles=tuple(
        Role(judge, TITLES[judge], "Marks the script independently, then with the others' reports.", 32_768, 0.4)
        for judge in JUDGES
    ),
    solve=solve,
    estimate=estimate,
    may_show=single_turn.WORKFLOW.may_show,
)
