"""A model that keeps to every form of grading with references: two routes, two main steps, a rubric of 3 and 4."""

from apps.reasoning.graders import whole_points
from tests.graders.grade import finding, grading

CLUSTERS = (
    "<clusters>"
    '<cluster members="1" representative="1"><main-step>Factor as $n(n+1)$.</main-step>'
    "<main-step>One of two neighbours is even.</main-step></cluster>"
    '<cluster members="2" representative="2"><main-step>Cases by parity.</main-step></cluster>'
    "</clusters>"
)
MATCHING = (
    "<matching><main-step>Factor.</main-step><main-step>Try some values.</main-step>"
    '<same step="1" cluster="C1" other="1"/></matching>'
)
ANALYSIS = (
    '<analysis><main-step title="Factor as n(n+1)"><why>It shows the neighbours.</why><substep>Expand.</substep></main-step>'
    '<main-step title="One of two neighbours is even"><why>It ends the proof.</why></main-step></analysis>'
)
SCORED = ANALYSIS.replace('n(n+1)">', 'n(n+1)" approachability="3">').replace('is even">', 'is even" approachability="4">')


def rubric(*points: int) -> str:
    items = "".join(
        f'<item title="Step {number}" points="{one}"><full>It is proved.</full><deduction>No reason: ½.</deduction></item>'
        for number, one in enumerate(points, 1)
    )
    return f"<rubric>{items}</rubric>"


PARTS = (
    '<part name="M1" step="1">The product of two neighbours</part><part name="S1" step="1">Expand it</part>'
    '<part name="M2" step="3">Hence by the examples</part><part name="C01" step="2 and 3">It is even</part>'
    '<part name="F9">no letter of ours</part><part name="M3" step="99"></part>'
)


def by_items(*points: float, total: float | None = None) -> str:
    items = [f'<item code="M{number}" points="{one}">So much of it.</item>' for number, one in enumerate(points, 1)]
    chain = "<chain>E1(Step_2) -> M2(Step_3) -> FINAL_INVALID</chain>"
    return grading(sum(points) if total is None else total, finding(), PARTS, chain, *items)


FOLLOWS = {
    "cluster": CLUSTERS,
    "match": MATCHING,
    "analyse/C1/plain": ANALYSIS,
    "analyse/C1/scored": SCORED,
    "rubric/C1/plain/*": rubric(3, 4),
    "rubric/C1/scored/*": rubric(3, 4),
    "grade/ref3": grading(2, finding()),
    "grade/ref5_*": by_items(2.5, 0),
}


def value(score: float, report: str = "I went through it.") -> str:
    """A report that ends with its value."""
    return f"{report}\n<score>{score:g}</score>"


#: A model that keeps to the forms of graders that give whole points with a scheme, and of the DeepSeek verifier.
WHOLE = {f"grade/{name}": grading(5) for name in whole_points.MANNERS}
EXAMINED = {"examine/*": value(0.5), "meta/*": value(1)}
