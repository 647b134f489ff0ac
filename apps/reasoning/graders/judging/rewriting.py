"""A neutral rewriting of a script before judgement, against bias for style, length and confident words.

The script remains the text that is recorded, shown and located in; the rewriting accompanies it step by step. If the rewriting
loses a step or a formula, the script itself is judged.

Source: our own; judges favour texts in their own style (docs/graders.md).
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import Field

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.grading import Grading
from apps.reasoning.graders.judging.answers import answer_read, entries
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.texts.formulas import formulas

STEP_LENGTH = 20_000
_NOTHING_SET = re.compile(r"\s+|\\[,;:!]|[.,;]$")


class StepSaid(Value):
    """A step of the script in neutral words."""

    number: Annotated[int, Field(ge=1)]
    text: Annotated[str, Field(min_length=1, max_length=STEP_LENGTH)]


class RewritingSaid(Value):
    """The whole answer."""

    steps: tuple[StepSaid, ...]


def rewriting_reader(steps: tuple[str, ...]) -> Callable[[Final], tuple[str, ...] | Unscored]:
    """Read a rewriting of these steps: each once, in order, with exactly its formulas."""

    def read(final: Final) -> tuple[str, ...] | Unscored:
        said = answer_read(final, "rewriting", RewritingSaid, _tags)
        if isinstance(said, Unscored):
            return said
        if [one.number for one in said.steps] != list(range(1, len(steps) + 1)):
            return Unscored(reason=f"exactly the steps 1 to {len(steps)} are wanted, in their order")
        for one, original in zip(said.steps, steps, strict=True):
            if reason := _changed(original, one.text):
                return Unscored(reason=f"step {one.number} {reason}")
        return tuple(one.text for one in said.steps)

    return read


def _changed(original: str, text: str) -> str:
    before, after = Counter(_formulas(original)), Counter(_formulas(text))
    lost = next((one for one in before if one not in after), "")
    added = next((one for one in after if one not in before), "")
    if lost:
        return f"has lost the formula {lost[:80]}"
    return f"has the formula {added[:80]}, which is not in the script" if added else ""


def _formulas(text: str) -> list[str]:
    return [plain for one in formulas(text) if (plain := _NOTHING_SET.sub("", one.tex))]


def _tags(body: str) -> dict[str, Any]:
    return {"steps": [attributes | {"text": text} for attributes, text in entries(body, "step")]}


async def rewritten(desk: GraderDesk, role: str) -> str:
    """Let `role` rewrite the script; the desk shows the rewriting from then on. Return why it does not, or ""."""
    source = desk.material.source
    steps = tuple(source[one.start : one.end] for one in desk.material.steps)
    found = await desk.ask(
        "rewrite",
        role=role,
        prompt="grading/rewriter",
        values={"script": desk.script},
        form="rewriting",
        shape=RewritingSaid,
        read=rewriting_reader(steps),
    )
    if isinstance(found, Unread):
        return f"The neutral rewriting could not be used ({found.reason}); the script itself was judged."
    desk.rewriting = found
    return ""


def with_rewriting(estimate: Estimate, role: str) -> Estimate:
    """The estimate including the call that rewrites the script."""
    one = next(found for found in estimate.roles if found.role == role)
    tokens = one.tokens_expected // max(1, one.calls_expected)
    written = one.written_expected // max(1, one.calls_expected)
    more = {
        "calls_expected": one.calls_expected + 1,
        "calls_max": one.calls_max + 1,
        "tokens_expected": one.tokens_expected + tokens,
        "written_expected": one.written_expected + written,
    }
    roles = tuple(found.model_copy(update=more) if found is one else found for found in estimate.roles)
    total = {
        "roles": roles,
        "calls_expected": estimate.calls_expected + 1,
        "calls_max": estimate.calls_max + 1,
        "tokens_expected": estimate.tokens_expected + tokens,
        "tokens_max": estimate.tokens_max + estimate.tokens_max // max(1, estimate.calls_max),
    }
    return estimate.model_copy(update=total)


def with_rewriting_noted(desk: GraderDesk, grading: Grading, remark: str) -> Grading:
    """The grading with the judged rewriting and a remark on it."""
    remarks = " ".join(part for part in (grading.remarks, remark) if part)
    return grading.model_copy(update={"rewriting": desk.rewriting, "remarks": remarks})
