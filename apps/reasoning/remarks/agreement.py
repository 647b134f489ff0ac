"""The results of a request for a remark, and the rule by which votes agree on a step."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from apps.reasoning.domain.values import Value
from apps.reasoning.domain.verdicts import UNPLACED, Vote
from apps.reasoning.marking.sheets.sheet import Fallacy

#: A single vote never makes a remark.
AGREEING_AT_LEAST = 2


class Silence(StrEnum):
    """Why there is no remark."""

    NOTHING = "every vote found nothing"
    DISAGREE = "the votes disagree"
    UNREAD = "too few votes can be read"
    UNWORDED = "no question and reason can be read"
    REVEALS = "every remark reveals too much"


class RemarkWritten(Value):
    """A remark on the first broken step, which is `step`, counted from 1. It is shown in stages: step, question, reason.

    `kind`: the type of the error. `votes`: the votes on the place; `first_fault` is -1 for a vote that found nothing.
    """

    step: int
    kind: Fallacy
    question: str
    reason: str
    votes: tuple[Vote, ...] = ()


class NoRemark(Value):
    """No remark, with the reason."""

    reason: Silence
    votes: tuple[Vote, ...] = ()


def needed(most: int) -> int:
    """How many of at most `most` votes must name the same step: a strict majority, and at least two."""
    return max(AGREEING_AT_LEAST, most // 2 + 1)


def is_open(votes: Sequence[Vote], most: int) -> bool:
    """Whether further votes, up to `most`, can still decide if there is a remark."""
    _, count = _leading(votes)
    return count < needed(most) <= count + most - len(votes)


def agreed_step(votes: Sequence[Vote], most: int) -> int | Silence:
    """The step that enough votes name as the first broken one, or the reason for silence."""
    step, count = _leading(votes)
    if step and count >= needed(most):
        return step
    readable = [vote for vote in votes if vote.is_valid]
    if not readable or len(readable) < min(needed(most), len(votes)):
        return Silence.UNREAD
    return Silence.NOTHING if all(vote.is_pass for vote in readable) else Silence.DISAGREE


def _leading(votes: Sequence[Vote]) -> tuple[int, int]:
    """The step with most votes, and their number; (0, 0) without one."""
    named = Counter(step for vote in votes if (step := vote.first_fault or UNPLACED) > UNPLACED)
    return max(named.items(), key=lambda one: one[1], default=(0, 0))
