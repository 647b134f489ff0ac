"""A grader's proposal for one script: points or the reason for none, items, findings at steps, chains. Never a grade."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from typing import Self

from pydantic import Field, model_validator

from apps.reasoning.domain.tools import MathFinding
from apps.reasoning.domain.values import Unscored, Value
from apps.reasoning.marking.propagation import Propagation, part_words
from apps.reasoning.marking.schemes.scheme import Points, points_text, points_words
from apps.reasoning.marking.sheets.sheet import Fallacy
from apps.reasoning.marking.suggestion import ItemGiven, Pass, Severity
from apps.reasoning.texts.anchors import Anchor

SEVEN = Decimal(7)
#: Prefix of the reason if a call failed, as in `Desk.ask`.
CALL_FAILED = "the call failed: "


class Located(Value):
    """An error found by a grader. `step` 0: no particular step; `lost` is why a quote has no place."""

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
    """A part of the script's argument according to a grader: its name (`M1`), its step and its content."""

    name: str
    step: int = 0
    words: str

    @property
    def called(self) -> str:
        """The name for people."""
        return part_words(self.name)

    @property
    def is_main(self) -> bool:
        """Whether it is a main step; other parts belong to the main step before them."""
        return self.name.startswith("M")


class Grading(Value):
    """A complete proposal. Exactly one of `points` and `unscored` is given; `raw` is the unreadable text of an unscored one.

    `passes` are the gradings that were combined. `computed`: the scheme's points for the items met, if the grader's own points
    may differ. `rewriting`: the steps in the neutral words that were judged. `marked`: the formulas that the prompts marked as
    proved or refuted.
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
    marked: tuple[MathFinding, ...] = Field(default=(), exclude_if=lambda marked: not marked)

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.points is None) == (not self.unscored):
            raise ValueError("a grading has points or the reason why it has none")
        if self.points is not None and self.points > self.scale:
            raise ValueError(f"there {'is' if self.scale == 1 else 'are'} at most {points_words(self.scale)}")
        return self

    @property
    def result(self) -> Decimal | Unscored:
        """The points, or the reason for none."""
        return Unscored(reason=self.unscored) if self.points is None else self.points

    @property
    def failure(self) -> str:
        """The reason of failed calls, such as a prompt that is too long, if no model answered; else ""."""
        return failure_in(self.unscored, [one.unscored for one in self.passes])

    @property
    def sentence(self) -> str:
        """The proposal as a sentence, for pages and terminals."""
        if self.failure:
            return f"Not graded: no model answered. {self.failure.rstrip('.')}."
        if self.points is None:
            return f"Unscored: {(self.unscored or '').rstrip('.')}."
        return f"{points_text(self.points)} of {points_words(self.scale)} {self.verb} proposed."

    @property
    def verb(self) -> str:
        """The verb after "1 of 7 points" and the like."""
        return "is" if 1 in (self.points, self.scale) else "are"

    @property
    def shares(self) -> dict[Decimal, float]:
        """The distribution of the scored passes over points; a single grading has one entry, an unscored one none."""
        if self.points is None:
            return {}
        given = [one.points for one in self.passes if one.points is not None] or [self.points]
        counts = Counter(given)
        return {points: counts[points] / len(given) for points in sorted(counts)}


def as_pass(name: str, grading: Grading) -> Pass:
    """The short form of a grading, for a combined grading."""
    return Pass(name=name, points=grading.points, unscored=grading.unscored)


def failure_in(unscored: str, passes: Sequence[str]) -> str:
    """The reason of failed calls from the reasons of a grading and its passes; "" if any call was answered."""
    reasons = [one for one in (passes or (unscored,)) if one.startswith(CALL_FAILED)]
    return reasons[0].removeprefix(CALL_FAILED) if unscored and reasons and len(reasons) == max(1, len(passes)) else ""


def mean_points(passes: Sequence[Pass]) -> Decimal | Unscored:
    """The mean of the scored passes, to two decimals; `Unscored` unless more than half are scored."""
    given = [one.points for one in passes if one.points is not None]
    if 2 * len(given) <= len(passes):
        missing = next((one.unscored for one in passes if one.unscored), "there is none")
        return Unscored(reason=f"{len(given)} of {len(passes)} gradings could be read ({missing})")
    return round(sum(given, Decimal(0)) / len(given), 2)
