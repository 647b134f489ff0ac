"""Grading with reference solutions: `ref3` with the matched one alone, `ref5_*` with a rubric made from it.

Source: RefGrader §5.2: five steps (cluster, match, analyse, design, grade) in four manners, three without a rubric.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders import single_turn
from apps.reasoning.graders.grader import Grader, Range, concluded, costs
from apps.reasoning.graders.grading import Grading
from apps.reasoning.graders.judging.asking import GraderDesk, Unread
from apps.reasoning.graders.judging.judging import graded, items_read
from apps.reasoning.graders.judging.said import GradingSaid
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.pieces.references import Manner, Matched, matched, rubric_of
from apps.reasoning.graders.single_turn import GRADER, GRADER_TOKENS
from apps.reasoning.graders.view import GUIDELINES, View
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Preset, Role

REF3 = "ref3"
MANNERS: dict[str, Manner] = {
    "ref5_plain": Manner(is_scored=False, by_milestones=False),
    "ref5_approachability": Manner(is_scored=True, by_milestones=False),
    "ref5_milestones": Manner(is_scored=False, by_milestones=True),
    "ref5_hybrid": Manner(is_scored=True, by_milestones=True),
}
PREPARING = (
    Role("clusterer", "Clusterer", "Sorts the references by their main steps, once per problem.", 32_768, 0.2),
    Role("matcher", "Matcher", "Finds the main steps that the script shares with a reference.", 16_384, 0.2),
)
DESIGNING = (
    Role("analyst", "Analyst", "Analyses the matched reference, once per reference.", 32_768, 0.2),
    Role("designer", "Rubric designer", "Distributes seven points over the analysis, once per reference.", 32_768, 0.2),
)
TYPICAL = {
    "clusterer": (15_000, 8_000),
    "matcher": (9_000, 4_000),
    "analyst": (3_000, 5_000),
    "designer": (5_000, 6_000),
    "grader": GRADER_TOKENS,
}
ASSUMED = "Likely: every answer is readable; pieces prepared for the problem are reused at no cost."


class Params(Material):
    """No parameters other than the material; it needs references."""


async def grade_with_reference(desk: GraderDesk, reference: Matched) -> Grading:
    """Grade with the matched reference, without a rubric: the single-turn prompt with the reference added (§5.2)."""
    return await single_turn.grade(desk, f"grade/{REF3}", workflow=REF3, reference=reference.text)


async def grade_by_rubric(desk: GraderDesk, reference: Matched, workflow: str) -> Grading:
    """Grade every item of the rubric; the result is the sum."""
    manner = MANNERS[workflow]
    rubric = await rubric_of(desk, reference, manner)
    if isinstance(rubric, Unread):
        return graded(desk, workflow, rubric)
    read = items_read(desk, rubric.worth)
    routes = load("grading/forms/routes_by_milestones") if manner.by_milestones else load("grading/forms/routes_by_steps")
    said = await desk.ask(
        f"grade/{workflow}",
        role="grader",
        prompt="grading/with_rubric",
        values={
            "fallacies": load("grading/forms/fallacies").system,
            "manner": routes.system,
            "reference": desk.foreign(reference.text),
            "rubric": desk.desk.content(rubric.text),
            "script": desk.script,
        },
        form="items",
        shape=GradingSaid,
        read=read,
        again=read.again,
        ending=desk.marks,
    )
    return graded(desk, workflow, said, rubric.worth)


#: Graders with a matched reference, by name.
BY_REFERENCE: dict[str, Callable[[GraderDesk, Matched], Awaitable[Grading]]] = {
    REF3: grade_with_reference,
    **{name: partial(grade_by_rubric, workflow=name) for name in MANNERS},
}


async def grade_with_references(desk: GraderDesk, workflow: str) -> Grading:
    """Match the script with a reference, make missing pieces, and grade."""
    reference = await matched(desk)
    return graded(desk, workflow, reference) if isinstance(reference, Unread) else await BY_REFERENCE[workflow](desk, reference)


async def _solve(problem: ProblemText, ctx: Context, params: Params, *, workflow: str) -> Outcome:
    return await concluded(problem, ctx, params, workflow, lambda desk: grade_with_references(desk, workflow))


def calls_of(params: Material, analyses: int, rubrics: int, gradings: int) -> dict[str, Range]:
    """Calls per role, by numbers of analyses, rubrics and gradings. A single reference needs neither sorting nor matching."""
    several = int(sum(bool(one.strip()) for one in params.references) > 1)
    ready = {what: sum(name.startswith(f"{what}/") for name in params.prepared) for what in ("clusters", "analysis", "rubric")}
    # Prepared pieces may belong to another reference than the one matched; then new ones are made.
    calls: dict[str, Range] = {
        "clusterer": (0, several * int(not ready["clusters"]), several),
        "matcher": (0, several, several),
    }
    if rubrics:
        calls["analyst"] = (0, max(0, analyses - ready["analysis"]), analyses)
        calls["designer"] = (0, max(0, rubrics - ready["rubric"]), rubrics)
    return calls | {"grader": (0, gradings, gradings)}


def _estimate(params: Params, max_new_tokens: Mapping[str, int] | None = None, *, has_rubric: bool) -> Estimate:
    calls = calls_of(params, int(has_rubric), int(has_rubric), 1)
    return costs(calls, {role: TYPICAL[role] for role in calls}, max_new_tokens, ASSUMED)


def _workflow(name: str, title: str, description: str) -> Grader:
    has_rubric = name in MANNERS
    return Grader(
        name=name,
        title=title,
        description=description,
        source="RefGrader §5.2",
        params=Params,
        presets={"original": Preset("Original", "The steps of the paper, once each.", Params(script=""))},
        roles=(*PREPARING, *(DESIGNING if has_rubric else ()), GRADER),
        solve=partial(_solve, workflow=name),
        estimate=partial(_estimate, has_rubric=has_rubric),
        needs=frozenset({"references"}),
        view=View(reference=True),
        may_show=lambda _: frozenset({GUIDELINES} if name == REF3 else ()),
    )


WORKFLOWS = (
    _workflow(REF3, "With a reference", "Sorts the references, matches the script with one, and grades with it."),
    _workflow("ref5_plain", "Rubric", "Analyses the matched reference into main steps and grades by a rubric made from them."),
    _workflow(
        "ref5_approachability",
        "Rubric by approachability",
        "Rates main steps by how hard they are to find; the rubric's points are proportional to these ratings.",
    ),
    _workflow("ref5_milestones", "Rubric of milestones", "Grades by a rubric of statements to be proved, by any route."),
    _workflow(
        "ref5_hybrid", "Milestones by approachability", "Grades by milestones whose points are proportional to approachability."
    ),
)
