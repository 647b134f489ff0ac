"""What all parts of a story have in common."""

from typing import ClassVar, TypeVar

from apps.reasoning.domain.event_base import Event, Kind

E = TypeVar("E", bound=Event)
Numbered = tuple[int, E]
"""An event with its number in the run."""


class Part:
    """A fold over events of `KINDS`, which come in the order of their numbers."""

    KINDS: ClassVar[frozenset[Kind]]

    def add(self, seq: int, event: Event) -> None:
        """Take the event `seq`; other kinds have no effect."""
        raise NotImplementedError
