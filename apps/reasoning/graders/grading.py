"""What a grader proposes for one script: points or why there are none, items, findings at steps, chains. Never a grade."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Self

from pydantic import Field, model_validator

from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.graders.propagation import Propagation
from apps.reasoning.marking.scheme import Points, points_text
from apps.reasoning.marking.sheet import Fallacy
from apps.reasoning.marking.suggestion import Severity
from apps.reasoning.texts.anchors import Anchor

SEVEN = Decimal(7)


class ItemGiven(Value):
    """Points given for one item of a rubric or scheme. `most` is what it is worth, `reason` why so many were given."""

    code: str
    title: str = ""
    points: Decimal
    most: Decimal
    reason: str = ""


class Located(Value):
    """An error that a grader sees. `step` 0: nowhere in particular; `lost` says why a quote has no place."""

    id: str
    step: int
    anchor: Anchor | None = None
    lost: str = ""
    fallacy: Fallacy
    severity: Severity
    quote: str = ""
    words: str
    contradicts: bool = Field(default=False, description="It contradicts the reference solution.")


class Pass(Value):
    """What one of several gradings gave: `name` is the judge, the workflow or the number of the run."""

    name: str
    points: Decimal | None
    unscored: str = ""


class Grading(Value):
    """The whole of it. Exactly one of `points` and `unscored` is given; `raw` is then what could not be read.

    `passes` are the gradings that it was made of, where it was made of several. `computed`: points that the scheme gives for
    the items met, where the grader's own points may differ from it.
    """

    workflow: str
    points: Points | None = None
    scale: Points = SEVEN
    unscored: str = ""
    raw: str = ""
    items: tuple[ItemGiven, ...] = ()
    ticks: tuple[str, ...] = ()
    computed: Points | None = None
    findings: tuple[Located, ...] = ()
    chains: tuple[Propagation, ...] = ()
    feedback: str = ""
    remarks: str = ""
    suspicious: tuple[str, ...] = ()
    passes: tuple[Pass, ...] = ()

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.points is None) == (not self.unscored):
            raise ValueError("a grading has points or the reason why it has none")
        if self.points is not None and self.points > self.scale:
            raise ValueError(f"there are at most {self.scale} points")
        return self

    @property
    def result(self) -> Decimal | Unscored:
        """Points, or why there are none."""
        return Unscored(reason=self.unscored) if self.points is None else self.points

    @property
    def sentence(self) -> str:
        """For pages and terminals."""
        if self.points is None:
            return f"Unscored: {self.unscored}."
        return f"{points_text(self.points)} of {points_text(self.scale)} points are proposed."

    @property
    def shares(self) -> dict[Decimal, float]:
        """How the scored passes are spread over points; of a single grading, all on its points; none where unscored."""
        if self.points is None:
            return {}
        given = [one.points for one in self.passes if one.points is not None] or [self.points]
        counts = Counter(given)
        return {points: counts[points] / len(given) for points in sorted(counts)}


def as_pass(name: str, grading: Grading) -> Pass:
    """The short form of a grading, for the one that is made of several."""
    return Pass(name=name, points=grading.points, unscored=grading.unscored)


def mean_points(passes: Sequence[Pass]) -> Decimal | Unscored:
    """The mean over what is scored, to two places; unscored unless more than half of them are."""
    given = [one.points for one in passes if one.points is not None]
    if 2 * len(given) <= len(passes):
        missing = next((one.unscored for one in passes if one.unscored), "there is none")
        return Unscored(reason=f"{len(given)} of {len(passes)} gradings could be read ({missing})")
    return round(sum(given, Decimal(0)) / len(given), 2)
