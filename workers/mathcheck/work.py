"""Counts the work of a check in operations, so that the same text gets the same findings on every machine.

One operation is about one node of an expression that is evaluated once; large numbers, intervals and SymPy count for more.
Limits on work are counted here and nowhere in seconds. Time is a last guard only (alarm.py).
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Limits, in operations; a laptop does about half a million to a million a second.
PER_TRIAL = 120_000
PER_SELECTION = 15_000
PER_CLAIM = 400_000
PER_PART = 2_000_000
PER_GROUP = 6_000_000
#: What one operation on intervals, one call of SymPy, and so many bits of a large number count for.
INTERVAL, SYMPY, BITS_PER_OPERATION = 25, 4_000, 256
#: The count is one for the process, so checks in several threads take turns.
ONE_AT_A_TIME = threading.RLock()


class OutOfWork(ArithmeticError):
    """The operations that a test may take are used up: there is no value within bounds."""


class Meter:
    """Operations done so far in this process, and the count at which the innermost limit is met."""

    __slots__ = ("limit", "spent")

    def __init__(self) -> None:
        self.spent = 0
        self.limit: float = float("inf")

    @property
    def is_over(self) -> bool:
        return self.spent > self.limit


METER = Meter()


def spend(operations: int) -> None:
    """Count operations; raises `OutOfWork` where a limit is met."""
    METER.spent += operations
    if METER.spent > METER.limit:
        raise OutOfWork


@contextmanager
def allowance(operations: float) -> Iterator[None]:
    """At most so many operations in the block, and no more than the limits around it leave."""
    before = METER.limit
    METER.limit = min(before, METER.spent + operations)
    try:
        yield
    finally:
        METER.limit = before
