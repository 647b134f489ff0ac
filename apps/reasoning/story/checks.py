"""The computational verifier's findings. They change no verdict."""

from dataclasses import dataclass, field

from apps.reasoning.domain.check_events import FormulaChecksOff, FormulasChecked
from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.story.parts import Numbered, Part


@dataclass
class Checks(Part):
    """`of` holds the newest check of each subject; `off` is the reason why no more follow, or ""."""

    KINDS = frozenset({Kind.FORMULAS_CHECKED, Kind.FORMULAS_OFF})

    of: dict[str, Numbered[FormulasChecked]] = field(default_factory=dict)
    off: str = ""

    def add(self, seq: int, event: Event) -> None:
        match event:
            case FormulasChecked():
                self.of[event.subject] = seq, event
            case FormulaChecksOff():
                self.off = event.reason
