"""Pieces prepared from references once per problem: clusters with main steps, an analysis, a rubric. Read strictly.

Source: RefGrader §5.2, App. B.1. A rubric becomes a scheme of the engine, whose checks it must pass.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import Annotated, Any, TypeVar

from pydantic import Field

from apps.reasoning.domain.generation import Final
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.grading import SEVEN
from apps.reasoning.graders.judging.answers import answer_read, entries
from apps.reasoning.graders.judging.judging import Worth
from apps.reasoning.marking.schemes.checks import check
from apps.reasoning.marking.schemes.scheme import Scheme, SchemeItem
from apps.reasoning.marking.schemes.structure import Severity

FEWEST_STEPS, MOST_STEPS = 2, 5
HARDEST = 5
P = TypeVar("P", bound=Value)
WORDS_LENGTH = 4_000
#: Shortest text, in characters, that counts as copied if it appears in the form.
SHORTEST_COPY = 8
_SUBSTANCE = re.compile(r"\w")
Words = Annotated[str, Field(min_length=1, max_length=WORDS_LENGTH)]


class Cluster(Value):
    """References that take the same main steps in the same order. Numbers of references count from 1."""

    steps: Annotated[tuple[Words, ...], Field(max_length=MOST_STEPS)] = ()
    members: Annotated[tuple[int, ...], Field(min_length=1)]
    representative: int


class Clusters(Value):
    """All clusters; a reference in none of them is no attempt at a solution."""

    clusters: Annotated[tuple[Cluster, ...], Field(min_length=1)]

    @property
    def named(self) -> dict[str, Cluster]:
        """C1, C2, … in order."""
        return {f"C{number}": cluster for number, cluster in enumerate(self.clusters, 1)}


class MainStep(Value):
    """A main idea of a reference with what it needs. `approachability` 1 to 5: how hard it is to think of, where asked for."""

    title: Words
    why: str = ""
    substeps: tuple[Words, ...] = ()
    approachability: Annotated[int, Field(ge=1, le=HARDEST)] | None = None


class Analysis(Value):
    """The main steps of one reference."""

    main_steps: Annotated[tuple[MainStep, ...], Field(min_length=FEWEST_STEPS, max_length=MOST_STEPS)]

    @property
    def text(self) -> str:
        """As prompts show it."""
        lines = []
        for number, one in enumerate(self.main_steps, 1):
            hard = f" (approachability {one.approachability} of {HARDEST})" if one.approachability else ""
            lines += [f"Main step {number}{hard}: {one.title}", *([one.why] if one.why else [])]
            lines += [f"  {number}.{index} {text}" for index, text in enumerate(one.substeps, 1)]
        return "\n".join(lines)


class RubricItem(Value):
    """Whole points for a main step or milestone, and what costs half points inside it."""

    title: Words
    points: Annotated[int, Field(ge=1, le=7)]
    full: Words
    deductions: tuple[Words, ...] = ()


class Rubric(Value):
    """Seven points over the items of a reference, named M1, M2, … in order."""

    items: Annotated[tuple[RubricItem, ...], Field(min_length=1, max_length=7)]

    @property
    def worth(self) -> tuple[Worth, ...]:
        """What a grader may give for each."""
        return tuple(
            Worth(code=f"M{number}", title=item.title, points=Decimal(item.points)) for number, item in enumerate(self.items, 1)
        )

    @property
    def scheme(self) -> Scheme:
        """The rubric as a marking scheme; half-point deductions go into the notes to markers."""
        items = [
            SchemeItem(
                code=f"M{number}",
                points=Decimal(item.points),
                text=f"{item.title}: {item.full}"[:4_000],
                note="\n".join(item.deductions)[:4_000],
            )
            for number, item in enumerate(self.items, 1)
        ]
        return Scheme(scale=SEVEN, step=Decimal("0.5"), items=tuple(items))

    @property
    def text(self) -> str:
        """As prompts show it."""
        lines = []
        for number, item in enumerate(self.items, 1):
            lines.append(f"M{number}, {item.points} points. {item.title}: {item.full}")
            lines += [f"  - {deduction}" for deduction in item.deductions]
        return "\n".join(lines)


def apportioned(weights: Sequence[int], total: int = 7) -> tuple[int, ...]:
    """Whole points that sum to `total`: largest remainders, of equals the earlier first, and at least 1 for each weight.

    Weights whose quota is below 1 get 1; the quotas of the others are then of what is left. Weights that are exactly
    proportional to whole points of at least 1 get these. Needs positive weights, no more of them than points.
    """
    least: set[int] = set()
    while True:
        others = [place for place in range(len(weights)) if place not in least]
        free, whole = total - len(least), sum(weights[place] for place in others)
        below = [place for place in others if free * weights[place] < whole]
        if not below:
            break
        least.update(below)
    quotas = {place: divmod(free * weights[place], whole) for place in others}
    left = free - sum(share for share, _ in quotas.values())
    more = sorted(others, key=lambda place: (-quotas[place][1], place))[:left]
    return tuple(1 if place in least else quotas[place][0] + (place in more) for place in range(len(weights)))


def clusters_fault(found: Clusters, count: int) -> str:
    """What is wrong with clusters of the references 1 to `count`: none is in two of them, the representative in its own."""
    members = [member for cluster in found.clusters for member in cluster.members]
    if len(set(members)) < len(members) or any(not 1 <= member <= count for member in members):
        return "a reference is in two clusters, or does not exist"
    if any(one.representative not in one.members for one in found.clusters):
        return "a representative is not one of its cluster"
    if any(len(one.steps) < 1 for one in found.clusters):
        return "a cluster has no main steps"
    return ""


def analysis_fault(found: Analysis, is_scored: bool) -> str:
    """What is wrong with an analysis: with `is_scored` every main step must say how hard it is to think of."""
    is_missing = is_scored and any(step.approachability is None for step in found.main_steps)
    return "a main step has no approachability" if is_missing else ""


def rubric_fault(found: Rubric, wanted: Sequence[int] = ()) -> str:
    """What is wrong with a rubric; `wanted` are the points of its items, where they are not the designer's to choose."""
    points = [item.points for item in found.items]
    if wanted and points != list(wanted):
        return f"the items have {points} points; {list(wanted)} are wanted, in this order"
    return " ".join(issue.message for issue in check(found.scheme) if issue.severity is Severity.ERROR)


def clusters_read(final: Final, count: int) -> Clusters | Unscored:
    """Clusters of the references 1 to `count`."""
    return faultless(answer_read(final, "clusters", Clusters, _cluster_tags), lambda found: clusters_fault(found, count))


def analysis_reader(is_scored: bool) -> Callable[[Final], Analysis | Unscored]:
    """Reads an analysis, with approachability or without."""
    return lambda final: faultless(
        answer_read(final, "analysis", Analysis, _analysis_tags), lambda found: analysis_fault(found, is_scored)
    )


def rubric_reader(wanted: Sequence[int] = ()) -> Callable[[Final], Rubric | Unscored]:
    """Reads a rubric; `wanted` are the points of its items, where they are not the designer's to choose."""
    return lambda final: faultless(
        answer_read(final, "rubric", Rubric, _rubric_tags), lambda found: rubric_fault(found, wanted)
    )


def faultless(said: P | Unscored, fault: Callable[[P], str]) -> P | Unscored:
    """What was read, unless `fault` finds something wrong with it."""
    if isinstance(said, Unscored):
        return said
    return Unscored(reason=wrong) if (wrong := fault(said)) else said


def own(said: P | Unscored, form: str) -> P | Unscored:
    """What was read, unless one of its texts is a placeholder of the form that it was asked for in."""
    if isinstance(said, Unscored):
        return said
    texts = [one for one in _texts(said.model_dump()) if one]
    copied = next((one for one in texts if not _SUBSTANCE.search(one) or (len(one) >= SHORTEST_COPY and one in form)), "")
    return Unscored(reason=f"it copies the form: {copied[:40]!r}") if copied else said


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _cluster_tags(body: str) -> dict[str, Any]:
    clusters = []
    for attributes, inner in entries(body, "cluster"):
        members = attributes.get("members", "").replace(",", " ").split()
        steps = [text for _, text in entries(inner, "main-step")]
        clusters.append(attributes | {"members": members, "steps": steps})
    return {"clusters": clusters}


def _analysis_tags(body: str) -> dict[str, Any]:
    return {
        "main_steps": [
            attributes
            | {
                "why": " ".join(text for _, text in entries(inner, "why")),
                "substeps": [text for _, text in entries(inner, "substep")],
            }
            for attributes, inner in entries(body, "main-step")
        ]
    }


def _rubric_tags(body: str) -> dict[str, Any]:
    return {
        "items": [
            attributes
            | {
                "full": " ".join(text for _, text in entries(inner, "full")),
                "deductions": [text for _, text in entries(inner, "deduction")],
            }
            for attributes, inner in entries(body, "item")
        ]
    }
