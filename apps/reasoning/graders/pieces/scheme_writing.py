"""A marking scheme written from a problem and its references: checkpoints, zero-credit items, deductions and caps.

It is read in the scheme engine's text form and must pass its checks; a failing scheme is corrected once. A person approves.
Source: QED-Nano §3.
"""

from collections.abc import Mapping
from decimal import Decimal
from textwrap import dedent
from typing import Annotated, Any

from pydantic import Field

from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.grading_events import GradingUnprepared, SchemeWritten
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.grader import costs
from apps.reasoning.graders.judging.answers import answer_read
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.graders.material import SCRIPT_LENGTH, Material
from apps.reasoning.graders.pieces.references import references_given
from apps.reasoning.graders.problems.preparer import Preparer
from apps.reasoning.marking.schemes.checks import check
from apps.reasoning.marking.schemes.faults import FormWrong
from apps.reasoning.marking.schemes.scheme import Kind, Scheme
from apps.reasoning.marking.schemes.structure import Severity
from apps.reasoning.marking.schemes.text_form import text_read, text_written
from apps.reasoning.ports import Context
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Preset, Role

NAME = "scheme_writer"
SLOT = "scheme"
TYPICAL = (6_000, 8_000)
LONGEST = 60_000


class Params(Material):
    """The scheme's scale; the script stays empty. Without references it is written from the problem alone, with a warning."""

    script: Annotated[str, Field(max_length=SCRIPT_LENGTH)] = ""
    scale: Annotated[int, Field(ge=1, le=100)] = 7


class SchemeSaid(Value):
    """The scheme in its text form."""

    scheme: Annotated[str, Field(min_length=1, max_length=LONGEST)]


def scheme_read(final: Final, scale: int) -> Scheme | Unscored:
    """A scheme of this scale in which the engine finds no error."""
    said = answer_read(final, "scheme", SchemeSaid, _scheme_tags)
    if isinstance(said, Unscored):
        return said
    try:
        scheme = text_read(said.scheme)
    except FormWrong as wrong:
        return Unscored(reason=str(wrong))
    if scheme.scale != Decimal(scale):
        return Unscored(reason=f"the scale is {scheme.scale}; {scale} is wanted")
    errors = [issue.message for issue in check(scheme) if issue.severity is Severity.ERROR]
    return Unscored(reason=" ".join(errors)) if errors else scheme


def warnings_of(scheme: Scheme, has_references: bool) -> tuple[str, ...]:
    """Warnings for the person who approves: those of the engine, and missing kinds of items."""
    found = [issue.message for issue in check(scheme) if issue.severity is Severity.WARNING]
    if not scheme.of_kind(Kind.ZERO_CREDIT):
        found.append("There are no zero-credit items.")
    if not (scheme.of_kind(Kind.DEDUCTION) or scheme.of_kind(Kind.CAP)):
        found.append("There are neither deductions nor caps.")
    if not has_references:
        found.append("It was written without a reference solution.")
    return tuple(found)


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Write a scheme, correct it once if it is unusable, and emit it."""
    desk = GraderDesk(Desk(problem, ctx, params.structured), params)
    references = references_given(desk)
    try:
        found = await desk.ask(
            "write",
            role="scheme_writer",
            prompt="grading/scheme_writer",
            values={
                "references": desk.foreign_listed((f"Solution {number}", text) for number, text in enumerate(references, 1))
                or "(none)",
                "guidelines": desk.foreign(params.guidelines),
                "scale": str(params.scale),
            },
            form="scheme",
            shape=SchemeSaid,
            read=lambda final: scheme_read(final, params.scale),
        )
    except BudgetExhausted as exhausted:
        return Outcome(accepted=None, reason=str(exhausted), ended_by="budget")
    if isinstance(found, Unread):
        reason = found.reason.rstrip(".")
        ctx.emit("grading/lost/scheme", GradingUnprepared(slot=SLOT, reason=reason, raw=found.raw))
        return Outcome(accepted=None, reason=f"No scheme could be read: {reason}.", ended_by="nothing-readable")
    warnings = warnings_of(found, bool(references))
    ctx.emit("grading/scheme", SchemeWritten(text=text_written(found), warnings=warnings))
    return Outcome(accepted=None, reason=f"A scheme of {len(found.items)} items is proposed. It needs a person's approval.")


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call, and one more if its scheme is unusable."""
    assumed = "Likely: the first scheme passes the checks."
    return costs({"scheme_writer": (0, 1, 1)}, {"scheme_writer": TYPICAL}, max_new_tokens, assumed)


def _scheme_tags(body: str) -> dict[str, Any]:
    return {"scheme": dedent(body.strip("\n")).strip()}


WORKFLOW = Preparer(
    name=NAME,
    title="Written marking scheme",
    description="Checkpoints, zero-credit items, deductions and caps, from the problem and its references.",
    source="QED-Nano §3",
    params=Params,
    presets={"original": Preset("Original", "Seven points.", Params())},
    roles=(Role("scheme_writer", "Scheme writer", "Writes the scheme and corrects it once.", 32_768, 0.2),),
    solve=solve,
    estimate=estimate,
)
