"""Gradings of a script, the pieces prepared for them, and schemes that a model wrote."""

from dataclasses import dataclass, field

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.grading_events import (
    GradingMatched,
    GradingPrepared,
    GradingReached,
    GradingUnprepared,
    SchemeWritten,
)
from apps.reasoning.story.parts import Part


@dataclass
class Gradings(Part):
    """`reached` are gradings by name, `prepared` pieces by name. `unprepared` is the newest slot without a usable piece."""

    RESULTS = frozenset({Kind.GRADING_PREPARED, Kind.GRADING_MATCHED, Kind.GRADING_REACHED})
    SCHEMES = frozenset({Kind.GRADING_SCHEME_WRITTEN, Kind.GRADING_UNPREPARED})
    KINDS = RESULTS | SCHEMES

    reached: dict[str, GradingReached] = field(default_factory=dict)
    prepared: dict[str, GradingPrepared] = field(default_factory=dict)
    matched: GradingMatched | None = None
    scheme: SchemeWritten | None = None
    unprepared: GradingUnprepared | None = None

    def add(self, seq: int, event: Event) -> None:
        match event:
            case GradingReached():
                self.reached[event.name] = event
            case GradingPrepared():
                self.prepared[event.piece] = event
            case GradingMatched():
                self.matched = event
            case SchemeWritten():
                self.scheme = event
            case GradingUnprepared():
                self.unprepared = event
