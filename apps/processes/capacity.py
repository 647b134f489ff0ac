"""Capacity of automatic runs, shared by experiments and by training jobs that make their own runs.

Each kind has a limit for all its work together. What runs divides it equally, and repeated failures stop the one that fails.
"""

from collections.abc import Iterable

#: Stop after this many consecutive failures.
FAILURES_AT_MOST = 5


def share_of(limit: int, parties: int) -> int:
    """The part of a limit that each of several parties may use; at least 1."""
    return max(1, limit // max(1, parties))


def room_of(*, at_once: int, limit: int, parties: int, own: int, others: int) -> int:
    """How many runs a party may start: `own` and `others` are under way, `at_once` is the party's own limit."""
    return max(0, min(at_once, share_of(limit, parties), max(0, limit - others)) - own)


def last_failure(newest: Iterable[tuple[str, str]]) -> str | None:
    """The reason of the last failure, if the newest states are all "failed" and as many as are allowed; else None.

    `newest`: pairs of state and reason, newest first, at most `FAILURES_AT_MOST`.
    """
    found = list(newest)
    if len(found) < FAILURES_AT_MOST or any(state != "failed" for state, _ in found):
        return None
    return found[0][1]
