"""Which runs somebody has open just now: what nobody reads need not be told piece by piece, by an engine's process neither."""

from collections.abc import Callable

#: Between two pieces of a call that nobody reads: a worker and its engine's process wait equally long.
UNREAD_S = 5.0


class Readers:
    """The runs with a reader. While nothing was told, every run counts as read. `tell` may be called from any thread."""

    def __init__(self) -> None:
        self._runs: frozenset[str] | None = None
        self._listeners: list[Callable[[], None]] = []

    def tell(self, runs: frozenset[str]) -> None:
        """From now on these, and no others. Listeners are called, in the caller's thread, where that changes anything."""
        if runs == self._runs:
            return
        self._runs = runs
        for listener in self._listeners:
            listener()

    def reads(self, run: str) -> bool:
        return self._runs is None or run in self._runs

    def when_changed(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)
