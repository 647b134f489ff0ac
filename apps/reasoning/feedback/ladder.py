"""The ladder of hints: eight rungs on two tracks, what each may be written from, and the gates between them.

A rung opens when the one before was given, its reader answered it (in words or by a newer version), and some time has passed.
People write the hints; the titles here say what belongs on each rung.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from apps.reasoning.domain.values import Value

TOP = 7
OPEN_BY_DEFAULT = 4  # Rungs above it need the coach's word.
WORDS_LENGTH = 2_000


class Track(StrEnum):
    """Repair: there is an error. Stuck: there is no way on."""

    REPAIR = "repair"
    STUCK = "stuck"


class Source(StrEnum):
    """What a rung may be written from."""

    TEXT = "the student's text"
    LOCATIONS = "the places of verdicts"
    TYPES = "what kind of error they name"
    COUNTEREXAMPLE = "a checked counterexample"
    SCHEME = "the marking scheme"
    REFERENCE = "steps of a reference solution"
    APPROVED = "text that a coach approved"
    SOLUTION = "the whole reference solution"


class Rung(Value):
    """One rung of a track: what belongs on it, in a line."""

    level: int
    title: str


RUNGS: dict[Track, tuple[Rung, ...]] = {
    Track.REPAIR: tuple(
        Rung(level=level, title=title)
        for level, title in enumerate((
            "What holds already, and what is still to be shown",
            "Which region to read again",
            "What kind of thing goes wrong there",
            "A question, or a small case that breaks the claim",
            "Which assumption has not been used",
            "A correct form of the claim",
            "The next step, worked out",
            "A full solution",
        ))
    ),
    Track.STUCK: tuple(
        Rung(level=level, title=title)
        for level, title in enumerate((
            "The goal in other words, and what would be enough",
            "What to try: small cases, extreme cases, equality",
            "Which family of methods",
            "A question that points at the object that matters",
            "A smaller goal on the way",
            "A lemma, and why it helps",
            "The next step, worked out",
            "A full solution",
        ))
    ),
}  # fmt: skip

_ADDED = (Source.TEXT, Source.LOCATIONS, Source.TYPES, Source.COUNTEREXAMPLE, Source.SCHEME, Source.REFERENCE)


def sources_at(level: int) -> tuple[Source, ...]:
    """What a rung of this level may be written from."""
    if level == TOP:
        return (Source.SOLUTION,)
    return (Source.APPROVED,) if level == TOP - 1 else _ADDED[: level + 1]


class Rules(Value):
    """What a coach chose for a problem. `budget`: the most rungs for one author and problem; waits in minutes."""

    highest: Annotated[int, Field(ge=0, le=TOP)] = OPEN_BY_DEFAULT
    budget: Annotated[int, Field(ge=1, le=50)] = 8
    first_wait: Annotated[int, Field(ge=0, le=1440)] = 10
    later_wait: Annotated[int, Field(ge=0, le=1440)] = 30


class Asked(Value):
    """A requested rung; `given_at` is None until it is given."""

    level: int
    given_at: datetime | None = None


class Gate(Value):
    """The next rung; `level` is None if there is none. `refusal` is why it cannot be requested now, or "".

    `opens_at` is given if only time is missing. `needs_answer`: the request must include words or a newer version.
    """

    level: int | None
    refusal: str = ""
    opens_at: datetime | None = None
    needs_answer: bool = False


def gate(asked: Sequence[Asked], rules: Rules, *, spent: int, now: datetime, is_over: bool) -> Gate:
    """The gate before the next rung of one request, whose rungs so far are `asked`, lowest first.

    `spent`: the rungs that this author had on the problem, those of other requests too. `is_over`: the time for handing in is
    past, or results were released; a full solution waits for that.
    """
    if not asked:
        return Gate(level=0, refusal=_spent(spent, rules))
    last = asked[-1]
    if last.given_at is None:
        return Gate(level=last.level, refusal="This hint is being written. You read it here when it is there.")
    level = last.level + 1
    if level > TOP:
        return Gate(level=None, refusal="This was the last hint.")
    if level > rules.highest:
        return Gate(level=None, refusal="For this problem there are no further hints.")
    if refusal := _spent(spent, rules):
        return Gate(level=level, refusal=refusal)
    if level == TOP and not is_over:
        return Gate(level=level, refusal="A full solution is shown when the time is over or results are released.")
    opens_at = last.given_at + timedelta(minutes=rules.first_wait if len(asked) == 1 else rules.later_wait)
    if now < opens_at:
        return Gate(level=level, refusal="Try with this hint first.", opens_at=opens_at, needs_answer=True)
    return Gate(level=level, needs_answer=True)


def _spent(spent: int, rules: Rules) -> str:
    return f"You have had the {rules.budget} hints that there are for this problem." if spent >= rules.budget else ""
