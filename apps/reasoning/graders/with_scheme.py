"""Grading against a marking scheme: the model decides which items are met, the scheme engine computes the points.

Strict: the engine's points count. Advisory: the model's own points, reported with those of the engine.
Source: QED-Nano §3, App. A and E (ProofBench).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import Field

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Unscored
from apps.reasoning.graders.grader import Grader, concluded, costs
from apps.reasoning.graders.grading import Grading
from apps.reasoning.graders.judging.asked_again import AskedAgain, tokens_for
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.graders.judging.judgements import GradingRead, grading_read
from apps.reasoning.graders.judging.judging import (
    TotalReading,
    every_item,
    fields_shown,
    graded,
    merged,
    total_read,
    with_notes,
    within_steps,
)
from apps.reasoning.graders.judging.said import GradingSaid
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.single_turn import GRADER, GRADER_TOKENS
from apps.reasoning.graders.view import View
from apps.reasoning.marking.schemes.checks import is_usable
from apps.reasoning.marking.schemes.evaluation import Evaluation, evaluate
from apps.reasoning.marking.schemes.scheme import Kind, Scheme, points_text
from apps.reasoning.marking.schemes.text_form import text_written
from apps.reasoning.marking.suggestion import ItemGiven
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load
from apps.reasoning.reading.schemas import decisions, object_schema
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Preset

NAME = "scheme"


class Params(Material):
    """Strict follows the scheme exactly; advisory accepts other valid approaches in place of its items."""

    strict: bool = Field(default=True, title="Strict", description="Compute the points from the items met, by the scheme.")


@dataclass(frozen=True)
class TicksReading:
    """Read answers that decide every item of the scheme except feedback, once each; with `advised`, also with points."""

    scheme: Scheme
    total: TotalReading
    advised: bool

    def __call__(self, final: Final) -> GradingRead | Unscored:
        said = self._decided(final)
        if isinstance(said, Unscored):
            return said
        return self.total.checked(said) if self.advised else within_steps(said, self.total.steps)

    @property
    def _wanted(self) -> set[str]:
        return {item.code for item in self.scheme.items if item.kind is not Kind.FEEDBACK}

    def _decided(self, final: Final) -> GradingRead | Unscored:
        wanted = self._wanted
        read = grading_read(final, self.scheme.scale, shown=self.total.shown)
        said = every_item(final, read, codes=sorted(wanted))
        if isinstance(said, Unscored):
            return said
        decided = {one.code for one in said.items if one.met is not None}
        allowed = {item.code for item in self.scheme.items}
        if not wanted <= decided <= allowed or len(decided) < len(said.items):
            return Unscored(reason=f"a decision is wanted for exactly {', '.join(sorted(wanted))}")
        return said

    @property
    def again(self) -> AskedAgain[GradingRead]:
        """The second question, for the decisions and, if advised, the grader's own points."""
        codes = [item.code for item in self.scheme.items if item.code in self._wanted]
        asked: dict[str, Any] = {"items": decisions(dict.fromkeys(codes, (True, False)))}
        points = self.total.allowed if self.advised else ()
        schema = object_schema(asked | ({"points": {"enum": list(points)}} if points else {}))
        values = {"example": fields_shown(codes, "true"), "scale": points_text(self.scheme.scale)}
        return AskedAgain(
            self._with_decisions,
            asks="advice" if self.advised else "ticks",
            schema=schema,
            tokens=tokens_for(len(codes)),
            values=values,
            examines=True,
        )

    def _with_decisions(self, second: Final, first: Final) -> GradingRead | Unscored:
        found = merged(first, self(second), self.total.steps, self.total.shown)
        if isinstance(found, GradingRead) or not self.advised:
            return found
        decided, points = self._decided(first), self.total.again.read(second, first)
        if isinstance(decided, Unscored) or isinstance(points, Unscored):
            return found
        return self.total.checked(decided.model_copy(update={"points": points.points, "no_total": ""}))


async def grade(desk: GraderDesk, scheme: Scheme, strict: bool) -> Grading:
    """One examination against the scheme."""
    manner = load("grading/forms/strict") if strict else load("grading/forms/advisory")
    read = TicksReading(scheme, total_read(desk, scheme.scale, scheme.step), advised=not strict)
    said = await desk.ask(
        "grade/scheme",
        role="grader",
        prompt="grading/with_scheme",
        values={
            "fallacies": load("grading/forms/fallacies").system,
            "manner": manner.system,
            "scheme": desk.desk.content(text_written(scheme)),
            "script": desk.script,
        },
        form="ticks" if strict else "advice",
        shape=GradingSaid,
        read=read,
        again=read.again,
        ending=desk.marks,
    )
    if isinstance(said, Unread):
        return graded(desk, NAME, said).model_copy(update={"scale": scheme.scale})
    ticks = tuple(one.code for one in said.items if one.met)
    worth = evaluate(scheme, ticks)
    grading = Grading(
        workflow=NAME,
        points=worth.points if strict else said.points,
        scale=scheme.scale,
        items=_items(scheme, said, worth),
        ticks=ticks,
        computed=worth.points,
        remarks=_remarks(worth, None if strict else said.points),
    )
    return with_notes(desk, grading, said)


def _items(scheme: Scheme, said: GradingRead, worth: Evaluation) -> tuple[ItemGiven, ...]:
    counted = {term.code: term.points for term in worth.route.terms} | {term.code: -term.points for term in worth.deductions}
    known = {item.code: item for item in scheme.items}
    return tuple(
        ItemGiven(
            code=one.code,
            title=known[one.code].text,
            points=counted.get(one.code, Decimal(0)),
            most=known[one.code].points,
            reason=one.reason,
        )
        for one in said.items
    )


def _remarks(worth: Evaluation, own: Decimal | None) -> str:
    remarks = []
    if worth.choices:
        near = " or ".join(points_text(choice) for choice in worth.choices)
        remarks.append(f"The scheme gives {points_text(worth.points)}, which lies between steps: {near}.")
    if own is not None and own != worth.points:
        remarks.append(f"The items met are worth {points_text(worth.points)}; the grader gives {points_text(own)}.")
    return " ".join(remarks)


def refuses(material: Material) -> str:
    """Refuse a scheme with errors, whose points would be meaningless."""
    if material.scheme is not None and not is_usable(material.scheme):
        return "The marking scheme has errors; correct them in its editor first."
    return ""


async def solve(problem: ProblemText, ctx: Context, params: Params) -> Outcome:
    """Examine once against the scheme."""

    async def once(desk: GraderDesk) -> Grading:
        if params.scheme is None:
            return Grading(workflow=NAME, unscored="there is no marking scheme")
        return await grade(desk, params.scheme, params.strict)

    return await concluded(problem, ctx, params, NAME, once)


def estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None) -> Estimate:
    """One call, and one more if its answer is unreadable."""
    return costs({"grader": (0, 1, 1)}, {"grader": GRADER_TOKENS}, max_new_tokens, "Likely: the answer is readable.")


WORKFLOW = Grader(
    name=NAME,
    title="Marking scheme",
    description="One call decides which items of the scheme are met; the scheme computes the points (strict) or the call does.",
    source="QED-Nano §3, App. E",
    params=Params,
    presets={
        "original": Preset("Strict", "Points by the scheme.", Params(script="")),
        "advisory": Preset(
            "Advisory", "The grader's own points, with the scheme's for comparison.", Params(script="", strict=False)
        ),
    },
    roles=(GRADER,),
    solve=solve,
    estimate=estimate,
    needs=frozenset({"scheme"}),
    view=View(scheme=True),
    refuses=refuses,
)
