"""A grader's output on a script: findings at steps, items with reasons, a distribution of points. Never a grade.

Markers see it in stages after sealing their own mark (`revealing`). A grader that gives no points has an empty distribution.
"""

import hashlib
from collections.abc import Collection
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from apps.reasoning.domain.spending import Amount
from apps.reasoning.domain.values import Value
from apps.reasoning.marking.propagation import Propagation
from apps.reasoning.marking.schemes.scheme import Code, Points, points_words
from apps.reasoning.marking.sheets.sheet import REASON_LENGTH, WORDS_LENGTH, Fallacy
from apps.reasoning.texts.anchors import Anchor, AnchorLost, anchor_span

FINDINGS_AT_MOST = 100
SHARES_OFF_BY = 0.01
RAW_LENGTH = 20_000


class Severity(StrEnum):
    """How much a grader thinks depends on a finding. Shown with its type, never before."""

    CRITICAL = "critical"
    GAP = "gap"
    NOTE = "note"


class Finding(Value):
    """An error that a grader sees in a step. `words` say what the step claims, in a neutral voice."""

    id: Annotated[str, Field(min_length=1, max_length=36)]
    step: Annotated[int, Field(ge=1)]
    anchor: Anchor | None = None
    fallacy: Fallacy
    severity: Severity = Severity.GAP
    words: Annotated[str, Field(min_length=1, max_length=WORDS_LENGTH)]


class SuggestedItem(Value):
    """A scheme item that a grader would tick, and why."""

    code: Code
    reason: Annotated[str, Field(max_length=WORDS_LENGTH)] = ""


class PointsShare(Value):
    """How much of its weight a grader puts on one number of points, 0 to 1."""

    points: Points
    share: Annotated[float, Field(ge=0, le=1)]


class ItemGiven(Value):
    """Points given for one item of a rubric or scheme. `most` is its worth, `reason` explains the points."""

    code: str
    title: str = ""
    points: Decimal
    most: Decimal
    reason: str = ""


class Pass(Value):
    """What one of several gradings gave: `name` is the judge, the workflow or the number of the run."""

    name: str
    points: Decimal | None
    unscored: str = ""


class Unplaced(Value):
    """A finding at no step in particular. It is read, and cannot become a verdict."""

    id: Annotated[str, Field(min_length=1, max_length=36)]
    fallacy: Fallacy
    severity: Severity = Severity.GAP
    words: Annotated[str, Field(min_length=1, max_length=WORDS_LENGTH)]


class Cost(Value):
    """The cost of a suggestion. `prepared` is the part for preparing the problem; None if it was not recorded separately.

    `reused`: pieces of the problem that were made before.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    prepared: Amount | None = None
    reused: int = 0

    @property
    def online(self) -> Amount:
        """The part for this script alone; the whole cost if the parts were not recorded separately."""
        total = Amount(calls=self.calls, prompt_tokens=self.prompt_tokens, completion_tokens=self.completion_tokens)
        return total - (self.prepared or Amount())


class SuggestionBody(Value):
    """The whole of it. Shares sum to 1, or there are none.

    `items` are those of the marking scheme that a grader would tick, `given` points for the items of whatever it graded by, of
    `scale` points, which is the scheme's where none is said. `proposed`: the points that it gives, where it says so; of a jury
    the lowest, which is no mean. `chains` begin with the name of a finding. `suspicious`: what in the text a reader does not
    see or what does not speak to one, in words. `unscored`: why there are no points, with what was written instead in `raw`.
    `passes`: the gradings that it was made of. `grading`: the name under which its calls are kept. `rewriting`: the steps in
    the neutral words that were judged, where they were. `prompts` and `settings`: the digest of the prompts and how the models
    were asked, for comparing graders. `view`: the parts of the problem that were shown (`graders/view.py`); none where that was
    not recorded.
    """

    findings: Annotated[tuple[Finding, ...], Field(max_length=FINDINGS_AT_MOST)] = ()
    unplaced: Annotated[tuple[Unplaced, ...], Field(max_length=FINDINGS_AT_MOST)] = ()
    chains: tuple[Propagation, ...] = ()
    items: tuple[SuggestedItem, ...] = ()
    given: tuple[ItemGiven, ...] = ()
    distribution: tuple[PointsShare, ...] = ()
    proposed: Points | None = None
    scale: Points | None = None
    passes: tuple[Pass, ...] = ()
    unscored: str = ""
    raw: Annotated[str, Field(max_length=RAW_LENGTH)] = ""
    remarks: Annotated[str, Field(max_length=WORDS_LENGTH)] = ""
    suspicious: tuple[Annotated[str, Field(max_length=REASON_LENGTH)], ...] = ()
    rewriting: tuple[str, ...] = ()
    cost: Cost | None = None
    grading: Annotated[str, Field(max_length=36)] = ""
    prompts: Annotated[str, Field(max_length=64)] = ""
    settings: str = ""
    view: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for what, names in (
            ("finding", [*(one.id for one in self.findings), *(one.id for one in self.unplaced)]),
            ("item", [one.code for one in self.items]),
            ("number of points", [str(one.points) for one in self.distribution]),
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"duplicate {what}")
        if self.distribution and abs(sum(one.share for one in self.distribution) - 1) > SHARES_OFF_BY:
            raise ValueError("the shares of a distribution sum to 1")
        if self.unscored and (self.distribution or self.proposed is not None):
            raise ValueError("what is unscored has no points")
        return self

    @property
    def expected(self) -> Decimal | None:
        """The points proposed, else the mean of the distribution; None where the grader gives none. For comparing, never for
        showing alone.
        """
        if self.proposed is not None:
            return self.proposed
        if not self.distribution:
            return None
        return sum((one.points * Decimal(str(one.share)) for one in self.distribution), Decimal(0))

    def expected_of(self, scale: Decimal) -> Decimal | None:
        """`expected` on another scale: a grader may give 7 points where the problem has 10."""
        if self.expected is None or not self.scale:
            return self.expected
        return self.expected * scale / self.scale


class SuggestionWrong(ValueError):
    """A suggestion names a step, place or item that does not exist, or gives more points than the maximum."""


def suggestion_checked(
    body: SuggestionBody, source: str, steps: Collection[int], codes: Collection[str], scale: Decimal | None
) -> SuggestionBody:
    """The body, if everything it names exists. Raises `SuggestionWrong`: a partial answer would be our invention."""
    for finding in body.findings:
        if finding.step not in steps:
            raise SuggestionWrong(f"there is no step {finding.step}")
        if finding.anchor is not None:
            try:
                anchor_span(source, finding.anchor)
            except AnchorLost as error:
                raise SuggestionWrong(f"step {finding.step}: {error}") from error
    _chains_checked(body, steps)
    if unknown := [one.code for one in body.items if one.code not in codes]:
        raise SuggestionWrong(f"the scheme has no item {', '.join(unknown)}")
    most = scale if body.scale is None else body.scale
    given = [one.points for one in body.distribution] + [points for points in (body.proposed,) if points is not None]
    if most is not None and any(points > most for points in given):
        raise SuggestionWrong(f"there {'is' if most == 1 else 'are'} at most {points_words(most)}")
    return body


def _chains_checked(body: SuggestionBody, steps: Collection[int]) -> None:
    names = {one.id for one in body.findings} | {one.id for one in body.unplaced}
    for chain in body.chains:
        if chain.error not in names:
            raise SuggestionWrong(f"there is no finding {chain.error}, with which a chain begins")
        if beyond := [link.step for link in chain.links if link.step and link.step not in steps]:
            raise SuggestionWrong(f"there is no step {beyond[0]}")


def suggestion_key(text: str, meaning: str, grader: str, shown: str) -> str:
    """The key of a suggestion: from digests of the text and of the scheme's meaning, the grader, and what it is shown."""
    return hashlib.sha256("\n".join((text, meaning, grader, shown)).encode()).hexdigest()
