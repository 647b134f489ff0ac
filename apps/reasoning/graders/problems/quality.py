"""Quality of a problem with its solution: named flags from several samples, decided by majority.

Source: QED-Nano §3, App. D. The paper drops its ratings of difficulty as too noisy; here difficulty is measured (`difficulty`).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.generation import Final, Place
from apps.reasoning.domain.grading_events import GradingUnprepared, QualityFound
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.grader import costs
from apps.reasoning.graders.judging.answers import answer_read, entries
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.graders.material import SCRIPT_LENGTH, Material
from apps.reasoning.graders.pieces.references import references_given
from apps.reasoning.graders.problems.preparer import Preparer
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running.concurrently import concurrently
from apps.reasoning.scaffolds.scaffold import Preset, Role

NAME = "quality"
SLOT = "quality"
TYPICAL = (4_000, 3_000)
REASON_LENGTH = 1_000


class Flag(StrEnum):
    """Defects of a problem with its solution."""

    INCOMPLETE = "incomplete"
    GAPS = "gaps"
    DOUBTFUL = "doubtful-statement"
    DISPUTED = "disputed"
    COMPUTATIONAL = "computational"
    PICTURE = "needs-picture"
    GIVEN = "answer-given"


#: The meaning of each flag, for pages and terminals.
MEANINGS: dict[str, str] = {
    Flag.INCOMPLETE: "The statement or the solution is incomplete.",
    Flag.GAPS: "The solution omits a large part of the proof.",
    Flag.DOUBTFUL: "Judging by the solution, the statement is ambiguous or wrong.",
    Flag.DISPUTED: "Another text points out a mistake in the solution or contradicts it.",
    Flag.COMPUTATIONAL: "The problem is a calculation with hardly anything to prove.",
    Flag.PICTURE: "The problem cannot be understood without a picture.",
    Flag.GIVEN: "The statement reveals the answer to be found.",
}


class Params(Material):
    """`references`: the solution that is asked about, then what others wrote. The script stays empty."""

    script: Annotated[str, Field(max_length=SCRIPT_LENGTH)] = ""
    samples: Annotated[int, Field(ge=1, le=33)] = 5


class FlagSaid(Value):
    """One flag with whether it holds."""

    name: Annotated[Flag, BeforeValidator(lambda name: str(name).strip().lower().replace("_", "-"))]
    holds: bool
    reason: Annotated[str, Field(max_length=REASON_LENGTH)] = ""


class QualitySaid(Value):
    """A whole answer: every flag exactly once."""

    flags: tuple[FlagSaid, ...]

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if sorted(one.name for one in self.flags) != sorted(Flag):
            raise ValueError(f"a decision is wanted on each of {', '.join(Flag)}, once")
        return self


def quality_read(final: Final) -> QualitySaid | Unscored:
    """Reads a decision on every flag."""
    return answer_read(final, "quality", QualitySaid, _quality_tags)


def flags_standing(found: QualityFound) -> tuple[str, ...] | Unscored:
    """The flags that more than half of the readable samples raise; `Unscored` unless most samples are readable."""
    if 2 * found.readable <= found.samples:
        return Unscored(reason=f"{found.readable} of {found.samples} samples could be read")
    return tuple(flag for flag in Flag if 2 * found.yes.get(flag, 0) > found.readable)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Request all samples concurrently and count their flags."""
    desk = GraderDesk(Desk(problem, ctx, params.structured), params)
    try:
        said = await concurrently(_sample(desk, number) for number in range(1, params.samples + 1))
    except BudgetExhausted as exhausted:
        return Outcome(accepted=None, reason=str(exhausted), ended_by="budget")
    read = [one for one in said if isinstance(one, QualitySaid)]
    found = _counted(read, params.samples)
    ctx.emit("grading/quality", found)
    lost = next((one for one in said if isinstance(one, Unread)), None)
    if lost is not None:
        ctx.emit("grading/lost/quality", GradingUnprepared(slot=SLOT, reason=lost.reason.rstrip("."), raw=lost.raw))
    standing = flags_standing(found)
    if isinstance(standing, Unscored):
        return Outcome(accepted=None, reason=f"The quality is unknown: {standing.reason}.", ended_by="nothing-readable")
    return Outcome(accepted=None, reason=f"Flags: {', '.join(standing)}." if standing else "No flags.")


async def _sample(desk: GraderDesk, number: int) -> QualitySaid | Unread:
    solution, *others = references_given(desk) or ("",)
    return await desk.ask(
        f"sample/{number}",
        role="examiner",
        prompt="grading/examiner",
        values={
            "solution": desk.foreign(solution),
            "others": desk.foreign_listed((f"Text {place}", text) for place, text in enumerate(others, 1)) or "(none)",
        },
        form="quality",
        shape=QualitySaid,
        read=quality_read,
        place=Place(subject="quality", index=number),
    )


def _counted(read: list[QualitySaid], samples: int) -> QualityFound:
    raised = {flag: [one for answer in read for one in answer.flags if one.name is flag and one.holds] for flag in Flag}
    reasons = {str(flag): tuple(one.reason for one in ones if one.reason) for flag, ones in raised.items()}
    return QualityFound(
        samples=samples,
        readable=len(read),
        yes={str(flag): len(ones) for flag, ones in raised.items()},
        reasons={flag: words for flag, words in reasons.items() if words},
    )


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call per sample, and one more if it is unreadable."""
    calls = {"examiner": (0, params.samples, params.samples)}
    return costs(calls, {"examiner": TYPICAL}, max_new_tokens, "Likely: every answer is readable.")


def lacks(params: Params) -> str:
    """The reason in words why it cannot run, or ""."""
    return "" if any(one.strip() for one in params.references) else "There is no solution to examine with the problem."


def _quality_tags(body: str) -> dict[str, Any]:
    return {"flags": [attributes | {"reason": text[:REASON_LENGTH]} for attributes, text in entries(body, "flag")]}


WORKFLOW = Preparer(
    name=NAME,
    title="Quality of problem and solution",
    description="Flags for defects of a problem and its solution, raised by more than half of several samples.",
    source="QED-Nano §3, App. D",
    params=Params,
    presets={"original": Preset("Five samples", "The majority of five.", Params())},
    roles=(Role("examiner", "Examiner", "Decides which flags apply.", 16_384, 0.7),),
    solve=solve,
    estimate=estimate,
    lacks=lacks,
)
