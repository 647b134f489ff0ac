"""Capacity of automatic runs, shared by experiments and by training jobs that make their own runs.

Each kind has a limit for all its work together. What runs divides it equally, and repeated failures stop the one that fails.
"""

from collections.abc import Callable, Iterable

#: Stop after this many consecutive failures.
FAILURES_AT_MOST = 5


def share_of(limit: int, parties: int) -> int:
    """The part of a limit that each of several parties may use; at least 1."""
    return max(1, limit // max(1, parties))


def room_of(*, at_once: int, limit: int, parties: int, own: int, others: int) -> int:
    """How many runs a party may start: `own` and `others` are under way, `at_once` is the party's own limit."""
    return max(0, min(at_once, share_of(limit, parties), max(0, limit - others)) - own)


class Shared:
    """A limit that kinds of work share which do not know each other, such as experiments and training jobs.

    Each kind says how many of its parties want room, and how much it has under way.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, tuple[Callable[[], int], Callable[[], int]]] = {}

    def join(self, kind: str, *, parties: Callable[[], int], under_way: Callable[[], int]) -> None:
        """Let a kind of work share the limit."""
        self._kinds[kind] = parties, under_way

    def parties(self) -> int:
        """How many parties of all kinds want room."""
        return sum(count() for count, _ in self._kinds.values())

    def room(self, *, at_once: int, limit: int, parties: int, own: int) -> int:
        """How many runs one party may start; `own` of what is under way are its own."""
        others = sum(count() for _, count in self._kinds.values()) - own
        return room_of(at_once=at_once, limit=limit, parties=parties, own=own, others=others)


#: Gradings of experiments and rewards of training jobs, within `GRADING_AT_ONCE`.
GRADINGS = Shared()


def last_failure(newest: Iterable[tuple[str, str]]) -> str | None:
    """The reason of the last failure, if the newest states are all "failed" and as many as are allowed; else None.

    `newest`: pairs of state and reason, newest first, at most `FAILURES_AT_MOST`.
    """
    found = list(newest)
    if len(found) < FAILURES_AT_MOST or any(state != "failed" for state, _ in found):
        return None
    return found[0][1]
