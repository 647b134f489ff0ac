"""The verifier of DeepSeekMath-V2 as a grader: independent examinations score 0, ½ or 1; a meta-verifier checks the reports.

Its roles and prompts are those of the scaffold `deepseek_math`. A report that the meta-verifier finds unfounded does not count.
The mean of what counts, times seven, is proposed. Source: QED-Nano App. B; DeepSeekMath-V2.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from pydantic import Field

from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored
from apps.reasoning.graders.grader import Grader, concluded, costs
from apps.reasoning.graders.grading import SEVEN, Grading, mean_points
from apps.reasoning.graders.judging.asking import RAW_LENGTH, GraderDesk
from apps.reasoning.graders.judging.totals import is_shown
from apps.reasoning.graders.material import Material
from apps.reasoning.marking.suggestion import Pass
from apps.reasoning.ports import Context
from apps.reasoning.reading.answers import answer_part
from apps.reasoning.reading.choices import Scored
from apps.reasoning.scaffolds.candidates.scoring import score_reading
from apps.reasoning.scaffolds.deepseek_math import (
    EVALUATOR,
    EXAMINATION,
    EXAMINING_TOKENS,
    FULL,
    META_VERIFIER,
    SCAFFOLD,
    report_checked,
)
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.running.hearing import Reading
from apps.reasoning.scaffolds.scaffold import Preset

NAME = "deepseek_verifier"
JUDGE = EVALUATOR.name


class Params(Material):
    """The paper uses 64 examinations for labels; the default of four is that of QED-Nano's runs."""

    examinations: int = Field(
        default=4, ge=1, le=64, title="Examinations", description="Independent examinations; their mean score counts."
    )
    checks: int = Field(
        default=1,
        ge=0,
        le=9,
        title="Checks per report",
        description="Checks of each report with objections; a report that most checks reject does not count. 0 for none.",
    )


class _Examined(NamedTuple):
    """One examination. `unscored` is why it does not count; `raw` is the unreadable text."""

    report: Scored | None
    unscored: str = ""
    raw: str = ""

    def as_pass(self, number: int) -> Pass:
        """The examination as a pass, in points."""
        points = None if self.report is None or self.unscored else Decimal(str(self.report.score)) * SEVEN
        return Pass(name=f"examination {number}", points=points, unscored=self.unscored)


async def grade(desk: GraderDesk, params: Params) -> Grading:
    """Run all examinations concurrently, check each report as it arrives, and take the mean of those that count."""
    numbers = range(1, params.examinations + 1)
    found = await concurrently(_examined(desk, number, params.checks) for number in numbers)
    passes = tuple(one.as_pass(number) for number, one in enumerate(found, 1))
    mean = mean_points(passes)
    if isinstance(mean, Unscored):
        raw = next((one.raw for one in found if one.raw), "")
        return Grading(workflow=NAME, unscored=mean.reason, raw=raw, passes=passes, suspicious=desk.suspicious)
    counted = [(one.points, number) for number, one in enumerate(passes) if one.points is not None]
    _, nearest = min(counted, key=lambda pair: abs(pair[0] - mean))
    report = found[nearest].report
    dropped = sum(one.report is not None and bool(one.unscored) for one in found)
    many = "s" * (len(counted) > 1)
    remark = f"The mean of {len(counted)} examination{many}, times 7; the report is that of {passes[nearest].name}."
    if dropped:
        remark += f" Not counted, since found unfounded: {dropped} report{'s' * (dropped > 1)}."
    feedback = report.report if report else ""
    return Grading(workflow=NAME, points=mean, passes=passes, feedback=feedback, remarks=remark, suspicious=desk.suspicious)


async def _examined(desk: GraderDesk, number: int, checks: int) -> _Examined:
    place = Place(subject="grade", index=number)
    scores = score_reading(EXAMINATION.allowed)

    def read(final: Final) -> Scored | Unscored:
        return _own(scores.read(final), final, desk.shown)

    def read_again(second: Final, first: str) -> Scored | Unscored:
        return scores.read_again(second, first)

    heard = await desk.desk.hear(
        f"examine/{number}",
        role=EVALUATOR.name,
        prompt=EXAMINATION.prompt,
        values={"solution": desk.script},
        place=place,
        reading=Reading(read, "score", read_again, scores.schema, scores.tokens),
        ending=desk.marks,
    )
    if isinstance(heard.value, Unscored):
        return _Examined(None, heard.value.reason, heard.final.text[:RAW_LENGTH] if heard.final else "")
    report = heard.value
    if report.score >= FULL:
        return _Examined(report)  # It objects to nothing, so there is nothing to check.
    said = await concurrently(
        report_checked(desk.desk, f"meta/{number}/{check}", desk.script, report, place) for check in range(1, checks + 1)
    )
    read_ones = [one.value for one in said if isinstance(one.value, Scored)]
    against = [one for one in read_ones if not one.score]
    # Unreadable checks do not count against a report.
    is_unfounded = 2 * len(against) > len(read_ones)
    return _Examined(report, "its report was found unfounded" if is_unfounded else "")


def _own(found: Scored | Unscored, final: Final, shown: str) -> Scored | Unscored:
    """The score, unless its words repeat what the grader was shown."""
    answer = answer_part(final.text)
    if isinstance(found, Unscored) or not isinstance(answer, str) or not is_shown(found.report, answer, "", shown):
        return found
    return Unscored(reason="its score is words of the script")


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Examine several times, check the reports, and take the mean."""
    return await concluded(problem, ctx, params, NAME, lambda desk: grade(desk, params), judge=JUDGE)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call per examination, and the checks of each report with objections."""
    checks = params.examinations * params.checks
    calls = {
        EVALUATOR.name: (0, params.examinations, params.examinations),
        META_VERIFIER.name: (0, checks, checks),
    }
    return costs(calls, EXAMINING_TOKENS, max_new_tokens, "Likely: every report has objections and is checked.")


WORKFLOW = Grader(
    name=NAME,
    title="DeepSeek verifier",
    description=(
        "Several examinations score the script 0, ½ or 1; a second role checks every report with objections. The proposal is "
        "seven times the mean of those that count."
    ),
    source="DeepSeekMath-V2; QED-Nano App. B",
    params=Params,
    presets={
        "original": Preset("Four examinations", "Each report is checked once.", Params(script="")),
        "label": Preset("As labels", "64 examinations, as in DeepSeekMath-V2.", Params(script="", examinations=64)),
    },
    roles=(EVALUATOR, META_VERIFIER),
    solve=solve,
    estimate=estimate,
    borrows=SCAFFOLD.name,
)
