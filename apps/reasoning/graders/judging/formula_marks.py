"""Marks of the formula check in the prompts of a grader: the script is checked once, before its first judge."""

from apps.reasoning.domain.generation import Place
from apps.reasoning.graders.grading import Grading
from apps.reasoning.graders.judging.asking import GraderDesk
from apps.reasoning.scaffolds.running.checking_first import MOST_WORDS, Formulas, formulas_of, marks, step_parts


async def formulas_marked(desk: GraderDesk) -> Formulas:
    """Check the formulas of the script; from then on, prompts that judge it end with the marks.

    The script itself is checked, also if a neutral rewriting is judged: a rewriting keeps every formula.
    """
    source = desk.material.source
    parts = step_parts([source[one.start : one.end] for one in desk.material.steps])
    given, place = desk.desk, Place(subject="script")
    found = await formulas_of(given.ctx, "formulas", parts, context=given.problem.statement, place=place)
    desk.marks = marks(found, desk.foreign)
    return found


def with_marks_noted(grading: Grading, formulas: Formulas) -> Grading:
    """The grading with the formulas that its prompts marked, or a remark why there was no check."""
    said = f"The formulas were not checked ({formulas.unchecked.rstrip('.')}), so the grader read no marks."
    remarks = " ".join(part for part in (grading.remarks, said if formulas.unchecked else "") if part)
    return grading.model_copy(update={"marked": formulas.marked[:MOST_WORDS], "remarks": remarks})
