"""The runs that are open in a browser now. Workers and engine processes send the text of unwatched runs less often."""

from collections.abc import Callable

#: Seconds between two pieces of a call of an unwatched run, for a worker and for its engine's process.
UNWATCHED_S = 5.0


class Readers:
    """The watched runs. Before the first `update`, every run counts as watched. `update` may be called from any thread."""

    def __init__(self) -> None:
        self._runs: frozenset[str] | None = None
        self._listeners: list[Callable[[], None]] = []

    def update(self, runs: frozenset[str]) -> None:
        """Replace the set of watched runs. Call the listeners, in the caller's thread, if it changed."""
        if runs == self._runs:
            return
        self._runs = runs
        for listener in self._listeners:
            listener()

    def reads(self, run: str) -> bool:
        return self._runs is None or run in self._runs

    def on_change(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)
