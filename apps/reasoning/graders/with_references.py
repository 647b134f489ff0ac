"""Grading beside reference solutions: `ref3` with the matched one alone, `ref5_*` with a rubric made from it.

Source: RefGrader §5.2: five steps (cluster, match, analyse, design, grade) in four manners, three without a rubric.
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.problems import ProblemText
from apps.reasoning.graders import single_turn
from apps.reasoning.graders.asking import GraderDesk, Unread
from apps.reasoning.graders.grader import Grader, Range, concluded, costs
from apps.reasoning.graders.grading import Grading
from apps.reasoning.graders.judging import graded, items_read
from apps.reasoning.graders.material import Material
from apps.reasoning.graders.references import Manner, Matched, matched, rubric_of
from apps.reasoning.graders.said import GradingSaid
from apps.reasoning.graders.single_turn import GRADER, GRADER_TOKENS
from apps.reasoning.graders.view import GUIDELINES, View
from apps.reasoning.ports import Context
from apps.reasoning.prompts.loader import load
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.scaffold import Preset, Role, reader

REF3 = "ref3"
MANNERS: dict[str, Manner] = {
    "ref5_plain": Manner(is_scored=False, by_milestones=False),
    "ref5_approachability": Manner(is_scored=True, by_milestones=False),
    "ref5_milestones": Manner(is_scored=False, by_milestones=True),
    "ref5_hybrid": Manner(is_scored=True, by_milestones=True),
}
PREPARING = (
    Role("clusterer", "Clusterer", "Sorts the references by their main steps, once per problem.", 32_768, 0.2),
    Role("matcher", "Matcher", "Says which main steps of the script are a reference's.", 16_384, 0.2),
)
DESIGNING = (
    Role("analyst", "Analyst", "Takes the matched reference apart, once per reference.", 32_768, 0.2),
    Role("designer", "Rubric designer", "Distributes seven points over it, once per reference.", 32_768, 0.2),
)
TYPICAL = {
    "clusterer": (15_000, 8_000),
    "matcher": (9_000, 4_000),
    "analyst": (3_000, 5_000),
    "designer": (5_000, 6_000),
    "grader": GRADER_TOKENS,
}
ASSUMED = "Likely: every answer keeps to its form; what was prepared for the problem before is reused and costs nothing."


class Params(Material):
    """Nothing beside the material; references are needed."""


async def grade_beside(desk: GraderDesk, reference: Matched) -> Grading:
    """Points beside the matched reference, without a rubric: the single-turn prompt with the reference added (§5.2)."""
    return await single_turn.grade(desk, f"grade/{REF3}", workflow=REF3, reference=reference.text)


async def grade_by_rubric(desk: GraderDesk, reference: Matched, workflow: str) -> Grading:
    """Points for every item of the rubric; their sum."""
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
    )
    return graded(desk, workflow, said, rubric.worth)


#: What grades beside a matched reference, by name.
BESIDE: dict[str, Callable[[GraderDesk, Matched], Awaitable[Grading]]] = {
    REF3: grade_beside,
    **{name: partial(grade_by_rubric, workflow=name) for name in MANNERS},
}


async def grade_with_references(desk: GraderDesk, workflow: str) -> Grading:
    """Match the script with a reference, make what is not made, grade."""
    reference = await matched(desk)
    return graded(desk, workflow, reference) if isinstance(reference, Unread) else await BESIDE[workflow](desk, reference)


async def _solve(problem: ProblemText, ctx: Context, params: Params, *, workflow: str) -> Outcome:
    return await concluded(problem, ctx, params, workflow, lambda desk: grade_with_references(desk, workflow))


def calls_of(params: Material, analyses: int, rubrics: int, gradings: int) -> dict[str, Range]:
    """Calls per role of so many kinds of analysis, rubrics and gradings. A single reference needs no sorting and no match."""
    several = int(sum(bool(one.strip()) for one in params.references) > 1)
    ready = {what: sum(name.startswith(f"{what}/") for name in params.prepared) for what in ("clusters", "analysis", "rubric")}
    # What is prepared may be for another reference than the one that this script is most like: then it is made all the same.
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
        read_params=reader(Params),
        presets={"original": Preset("Original", "The steps of the paper, once each.", Params(script=""))},
        roles=(*PREPARING, *(DESIGNING if has_rubric else ()), GRADER),
        solve=partial(_solve, workflow=name),
        estimate=partial(_estimate, has_rubric=has_rubric),
        needs=frozenset({"references"}),
        view=View(reference=True),
        may_show=lambda _: frozenset({GUIDELINES} if name == REF3 else ()),
    )


WORKFLOWS = (
    _workflow(REF3, "Beside a reference", "The references are sorted, the script is matched with one, and graded beside it."),
    _workflow("ref5_plain", "Rubric", "The matched reference is taken apart into main steps and a rubric is made from it."),
    _workflow(
        "ref5_approachability",
        "Rubric by approachability",
        "Main steps are rated by how hard they are to think of; the rubric's points are proportional to that.",
    ),
    _workflow("ref5_milestones", "Rubric of milestones", "The rubric names statements to be proved, whatever the route there."),
    _workflow("ref5_hybrid", "Milestones by approachability", "Milestones whose points are proportional to approachability."),
)
