"""What comes of a request for a remark, and the rule by which votes agree on a step."""

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

    `kind`: the type of the error. `votes`: what each vote said of the place; `first_fault` is -1 where it found nothing.
    """

    step: int
    kind: Fallacy
    question: str
    reason: str
    votes: tuple[Vote, ...] = ()


class NoRemark(Value):
    """No remark is shown, and why."""

    reason: Silence
    votes: tuple[Vote, ...] = ()


def agreed_step(votes: Sequence[Vote]) -> int | Silence:
    """The step that a strict majority of all votes names as the first broken one, and at least two of them."""
    needed = max(AGREEING_AT_LEAST, len(votes) // 2 + 1)
    readable = [vote for vote in votes if vote.is_valid]
    if len(readable) < needed:
        return Silence.UNREAD
    named = Counter(vote.first_fault for vote in readable if (vote.first_fault or UNPLACED) > UNPLACED)
    step, count = max(named.items(), key=lambda one: one[1], default=(None, 0))
    if step is not None and count >= needed:
        return step
    return Silence.NOTHING if all(vote.is_pass for vote in readable) else Silence.DISAGREE
