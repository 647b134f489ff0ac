"""Gradings of a script, and the pieces prepared for them."""

from dataclasses import dataclass, field

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.grading_events import GradingPrepared, GradingReached
from apps.reasoning.story.parts import Part


@dataclass
class Gradings(Part):
    """`reached` are gradings by name, `prepared` pieces by name."""

    KINDS = frozenset({Kind.GRADING_PREPARED, Kind.GRADING_REACHED})

    reached: dict[str, GradingReached] = field(default_factory=dict)
    prepared: dict[str, GradingPrepared] = field(default_factory=dict)

    def add(self, seq: int, event: Event) -> None:
        match event:
            case GradingReached():
                self.reached[event.name] = event
            case GradingPrepared():
                self.prepared[event.piece] = event
