"""Counts the work of a check in operations, so that the same text gets the same findings on every machine.

One operation is about one evaluation of one node; large numbers, intervals and SymPy count for more. All limits are in
operations, not seconds. Time is only a last guard (alarm.py).
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
#: Operations for one operation on intervals and for one call of SymPy; bits of a large number for one operation.
INTERVAL, SYMPY, BITS_PER_OPERATION = 25, 4_000, 256
#: The process has one count, so checks in several threads take turns.
ONE_AT_A_TIME = threading.RLock()


class OutOfWork(ArithmeticError):
    """The operations that a test may use are used up."""


class Meter:
    """Operations of this process so far, and the count at which the innermost limit is reached."""

    __slots__ = ("limit", "spent")

    def __init__(self) -> None:
        self.spent = 0
        self.limit: float = float("inf")

    @property
    def is_over(self) -> bool:
        return self.spent > self.limit


METER = Meter()


def spend(operations: int) -> None:
    """Count operations; raises `OutOfWork` when a limit is exceeded."""
    METER.spent += operations
    if METER.spent > METER.limit:
        raise OutOfWork


@contextmanager
def allowance(operations: float) -> Iterator[None]:
    """Limit the block to `operations`, within the limits around it."""
    before = METER.limit
    METER.limit = min(before, METER.spent + operations)
    try:
        yield
    finally:
        METER.limit = before
