"""Points of a solution by its final answer: 1, 0, or none with the reason. Never 0 for what could not be compared."""

from decimal import Decimal
from typing import NamedTuple

from apps.reasoning.answers.comparison import answer_compared, key_trouble, unstated
from apps.reasoning.answers.final import final_answer

NOTHING = "nothing was handed in"
NO_ANSWER = "the problem has no final answer"
#: Begins the reason on problems where only right answers would get a score.
INCOMPARABLE = "wrong answers to this problem could not be refused, so a grader or people must score it"
LONGEST_ANSWER = 2_000


class Found(NamedTuple):
    """Points out of one, or why there are none. `comment`: the final answer as it was read."""

    points: Decimal | None
    unscored: str = ""
    comment: str = ""


def why_outside(expected: str) -> str:
    """Why no answer to a problem with this key has a score by final answer; "" if answers have one."""
    if not expected.strip():
        return NO_ANSWER
    trouble = key_trouble(expected)
    return f"{INCOMPARABLE} ({trouble.rstrip('.')})" if trouble else ""


def answer_points(text: str, expected: str) -> Found:
    """1 or 0 for a text that states an answer, or why it has no score.

    An answer that is not stated has none, even if it is right: a wrong one looks like a last line that is no answer,
    so the mean would be too high.
    """
    if why := why_outside(expected):
        return Found(None, why)
    if not text:
        return Found(None, NOTHING)
    found, final = answer_compared(text, expected), final_answer(text)
    stated = final.text[:LONGEST_ANSWER]
    if found.outcome == "undecided" or not final.is_stated:
        return Found(None, unstated(final) if final.text and not final.is_stated else found.reason, stated)
    return Found(Decimal(found.outcome == "equal"), comment=stated)
