"""Declaration of a grader: like a scaffold, it has parameters, roles and a cost. Its prompts are in `prompts/grading`."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from apps.reasoning.domain.errors import BudgetExhausted
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.domain.values import Value
from apps.reasoning.graders.grading import Grading
from apps.reasoning.graders.judging.asking import GraderDesk
from apps.reasoning.graders.judging.formula_marks import formulas_marked, with_marks_noted
from apps.reasoning.graders.judging.judging import published
from apps.reasoning.graders.judging.rewriting import rewritten, with_rewriting_noted
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.view import PARTS, THE_PROBLEM, View
from apps.reasoning.ports import Context
from apps.reasoning.prompts import loader
from apps.reasoning.scaffolds.candidates.costs import estimated
from apps.reasoning.scaffolds.candidates.desk import Desk
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.running import checking_first
from apps.reasoning.scaffolds.running.checking_first import Formulas
from apps.reasoning.scaffolds.scaffold import Scaffold

FINAL = "final"
METHOD = "grading"


@dataclass(frozen=True)
class Grader(Scaffold):
    """A scaffold that grades. `needs` and `refuses` check the material before a run is made.

    `view` is its default view, as in its paper. `may_show`: further parts for which its prompts have a place.
    `borrows`: the scaffold whose prompts it also uses.
    """

    needs: frozenset[str] = frozenset()
    refuses: Callable[[Material], str] = lambda _: ""
    view: View = THE_PROBLEM
    may_show: Callable[[Any], frozenset[str]] = lambda _: frozenset()
    borrows: str = ""

    @property
    def prompts(self) -> dict[str, str]:
        borrowed = loader.hashes(self.borrows) if self.borrows else {}
        return loader.hashes(METHOD) | loader.hashes("shared") | borrowed

    def prompts_of(self, params: Value) -> dict[str, str]:
        """Its prompts, with those of checks only if it shows marks: gradings of earlier versions keep their names."""
        marks = isinstance(params, Material) and params.marks
        return self.prompts | (loader.hashes(checking_first.METHOD) if marks else {})

    def seen(self, material: Material) -> View:
        """The view of this material; for material recorded before views existed, what that version showed."""
        return material.view or self.seen_before(material)

    def seen_before(self, material: Material) -> View:
        """The view before views existed: guidelines wherever prompts had a place for them."""
        return self.view.also(*self.may_show(material))

    def cannot_show(self, material: Material) -> str:
        """The reason in words why the view of this material is impossible, or ""."""
        asked, may = self.seen(material), self.view.also(*self.may_show(material))
        if missing := [words for part, words in PARTS.items() if getattr(self.view, part) and not getattr(asked, part)]:
            return f"{self.title} must be shown {missing[0]}."
        if more := [words for part, words in PARTS.items() if getattr(asked, part) and not getattr(may, part)]:
            return f"{self.title} cannot be shown {more[0]}: its prompts have no place for that. It can be shown {may.words}."
        return ""

    def lacks(self, material: Material) -> str:
        """What the material lacks for this grader, in words, or ""."""
        if trouble := self.cannot_show(material):
            return trouble
        if not material.script.strip():
            return "The script is empty."
        if material.view is not None and material.view.guidelines and not material.guidelines.strip():
            return "The view includes the guidelines for markers, but this problem has none."
        if "references" in self.needs and not any(one.strip() for one in material.references):
            return f"{self.title} needs a reference solution."
        if "scheme" in self.needs and material.scheme is None:
            return f"{self.title} needs a marking scheme."
        return self.refuses(material)


async def concluded(
    problem: ProblemText,
    ctx: Context,
    material: Material,
    workflow: str,
    grade: Callable[[GraderDesk], Awaitable[Grading]],
    judge: str = "grader",
) -> Outcome:
    """Run a grading and publish it as the run's result; if the budget ends it, it is unscored.

    `judge` is the role that first rewrites the script in neutral words, if requested.
    """
    desk = GraderDesk(Desk(problem, ctx, material.structured), material)
    ended_by = "exhausted"
    try:
        remark = await rewritten(desk, judge) if material.neutral else ""
        formulas = await formulas_marked(desk) if material.marks else Formulas()
        grading = with_marks_noted(with_rewriting_noted(desk, await grade(desk), remark), formulas)
    except BudgetExhausted as exhausted:
        grading = Grading(workflow=workflow, unscored=str(exhausted).rstrip("."), suspicious=desk.suspicious)
        ended_by = "budget"
    published(desk, FINAL, grading)
    if grading.points is None and ended_by != "budget":
        ended_by = "nothing-readable"
    return Outcome.model_validate({"accepted": None, "reason": grading.sentence, "ended_by": ended_by})


ASKED_AGAIN = "An unreadable answer is requested once more: each call may cause one more, mostly short."
Range = tuple[int, int, int]
"""Calls of a role: fewest, expected, most. Second requests are extra, as for every program."""


def costs(
    calls: Mapping[str, Range], typical: Mapping[str, tuple[int, int]], limits: Mapping[str, int] | None, assumptions: str
) -> Estimate:
    """Make an estimate from calls per role."""
    return estimated(
        fewest={role: one[0] for role, one in calls.items()},
        likely={role: one[1] for role, one in calls.items()},
        most={role: one[2] for role, one in calls.items()},
        typical=typical,
        limits=limits,
        assumptions=f"{assumptions} {ASKED_AGAIN}",
    )
