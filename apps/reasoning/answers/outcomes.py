"""The outcome of a comparison: equal, different, or undecided with the reason."""

from collections.abc import Iterable
from typing import Literal

from apps.reasoning.domain.values import Value

Outcome = Literal["equal", "different", "undecided"]


class Comparison(Value):
    """`reason` says by what means it was decided, or why it was not."""

    outcome: Outcome
    reason: str

    @property
    def is_equal(self) -> bool | None:
        """None where it is undecided."""
        return {"equal": True, "different": False, "undecided": None}[self.outcome]


def equal(reason: str) -> Comparison:
    return Comparison(outcome="equal", reason=reason)


def different(reason: str) -> Comparison:
    return Comparison(outcome="different", reason=reason)


def undecided(reason: str) -> Comparison:
    return Comparison(outcome="undecided", reason=reason)


def all_of(parts: Iterable[Comparison]) -> Comparison:
    """Equal where all parts are, different where one is."""
    found = list(parts)
    for outcome in ("different", "undecided"):
        for one in found:
            if one.outcome == outcome:
                return one
    return found[0] if found else equal("both are empty")
