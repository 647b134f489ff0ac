"""What a grader proposes for one script: points or why there are none, items, findings at steps, chains. Never a grade."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Self

from pydantic import Field, model_validator

from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.marking.propagation import Propagation, part_words
from apps.reasoning.marking.scheme import Points, points_text
from apps.reasoning.marking.sheet import Fallacy
from apps.reasoning.marking.suggestion import ItemGiven, Pass, Severity
from apps.reasoning.texts.anchors import Anchor

SEVEN = Decimal(7)
#: How a reason begins where a call ended without a text, as `Desk.ask` puts it.
CALL_FAILED = "the call failed: "


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


class Part(Value):
    """A part of the script's argument as a grader sees it: its name (`M1`), the step in which it stands, what it says."""

    name: str
    step: int = 0
    words: str

    @property
    def called(self) -> str:
        """For people."""
        return part_words(self.name)

    @property
    def is_main(self) -> bool:
        """Whether it is a main step; others stand below the one before them."""
        return self.name.startswith("M")


class Grading(Value):
    """The whole of it. Exactly one of `points` and `unscored` is given; `raw` is then what could not be read.

    `passes` are the gradings that it was made of, where it was made of several. `computed`: points that the scheme gives for
    the items met, where the grader's own points may differ from it. `rewriting`: the steps in the neutral words judged.
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
    parts: tuple[Part, ...] = ()
    chains: tuple[Propagation, ...] = ()
    feedback: str = ""
    remarks: str = ""
    suspicious: tuple[str, ...] = ()
    passes: tuple[Pass, ...] = ()
    rewriting: tuple[str, ...] = ()

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
    def failure(self) -> str:
        """Why no model wrote anything to judge by: its calls failed, as where the prompt is too long. Else empty."""
        return failure_in(self.unscored, [one.unscored for one in self.passes])

    @property
    def sentence(self) -> str:
        """For pages and terminals."""
        if self.failure:
            return f"Not graded, as no answer came: {self.failure.rstrip('.')}."
        if self.points is None:
            return f"Unscored: {(self.unscored or '').rstrip('.')}."
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


def failure_in(unscored: str, passes: Sequence[str]) -> str:
    """Why no answer came, of a grading that is unscored for this reason, made of passes with these; empty where one came."""
    reasons = [one for one in (passes or (unscored,)) if one.startswith(CALL_FAILED)]
    return reasons[0].removeprefix(CALL_FAILED) if unscored and reasons and len(reasons) == max(1, len(passes)) else ""


def mean_points(passes: Sequence[Pass]) -> Decimal | Unscored:
    """The mean over what is scored, to two places; unscored unless more than half of them are."""
    given = [one.points for one in passes if one.points is not None]
    if 2 * len(given) <= len(passes):
        missing = next((one.unscored for one in passes if one.unscored), "there is none")
        return Unscored(reason=f"{len(given)} of {len(passes)} gradings could be read ({missing})")
    return round(sum(given, Decimal(0)) / len(given), 2)
