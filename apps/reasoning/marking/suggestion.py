"""What a grader says about a script: findings at steps, items with reasons, a distribution of points. Never a grade.

People meet it in stages after their own mark is sealed (`revealing`). A grader that gives no points has an empty distribution.
"""

import hashlib
from collections.abc import Collection
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from apps.reasoning.domain.values import Value
from apps.reasoning.marking.scheme import Code, Points
from apps.reasoning.marking.sheet import REASON_LENGTH, WORDS_LENGTH, Fallacy
from apps.reasoning.texts.anchors import Anchor, AnchorLost, anchor_span

FINDINGS_AT_MOST = 100
SHARES_OFF_BY = 0.01


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


class SuggestionBody(Value):
    """The whole of it. `suspicious`: what in the text a reader does not see, in words. Shares sum to 1, or there are none."""

    findings: Annotated[tuple[Finding, ...], Field(max_length=FINDINGS_AT_MOST)] = ()
    items: tuple[SuggestedItem, ...] = ()
    distribution: tuple[PointsShare, ...] = ()
    remarks: Annotated[str, Field(max_length=WORDS_LENGTH)] = ""
    suspicious: tuple[Annotated[str, Field(max_length=REASON_LENGTH)], ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for what, names in (
            ("finding", [one.id for one in self.findings]),
            ("item", [one.code for one in self.items]),
            ("number of points", [str(one.points) for one in self.distribution]),
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"a {what} stands twice")
        if self.distribution and abs(sum(one.share for one in self.distribution) - 1) > SHARES_OFF_BY:
            raise ValueError("the shares of a distribution sum to 1")
        return self

    @property
    def expected(self) -> Decimal | None:
        """The mean of the distribution; None where the grader gives no points. For comparing, never for showing alone."""
        if not self.distribution:
            return None
        return sum((one.points * Decimal(str(one.share)) for one in self.distribution), Decimal(0))


class SuggestionWrong(ValueError):
    """A grader spoke of a step, a place or an item that is not there, or gave more points than there are."""


def suggestion_checked(
    body: SuggestionBody, source: str, steps: Collection[int], codes: Collection[str], scale: Decimal | None
) -> SuggestionBody:
    """The body, if everything it names exists. Raises `SuggestionWrong`: half of an answer would be an answer of ours."""
    for finding in body.findings:
        if finding.step not in steps:
            raise SuggestionWrong(f"there is no step {finding.step}")
        if finding.anchor is not None:
            try:
                anchor_span(source, finding.anchor)
            except AnchorLost as error:
                raise SuggestionWrong(f"step {finding.step}: {error}") from error
    if unknown := [one.code for one in body.items if one.code not in codes]:
        raise SuggestionWrong(f"the scheme has no item {', '.join(unknown)}")
    if scale is not None and any(one.points > scale for one in body.distribution):
        raise SuggestionWrong(f"there are at most {scale} points")
    return body


def suggestion_key(text: str, meaning: str, grader: str, told: str) -> str:
    """One name for one question: digests of the text and of the scheme's meaning, the grader, and what it is told."""
    return hashlib.sha256("\n".join((text, meaning, grader, told)).encode()).hexdigest()
