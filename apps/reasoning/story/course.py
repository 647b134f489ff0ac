"""The course of a run: its rounds, the hints of people, the selected proof and the end."""

from dataclasses import dataclass, field

from apps.reasoning.domain.control import ControlApplied, ControlRequested
from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.events import ProofSelected, RoundBegan, RoundEnded, RunFinished
from apps.reasoning.story.parts import Numbered, Part

Place = tuple[int, int]
"""`(rollout, round)`."""


@dataclass
class Course(Part):
    """`hints` are those that took effect. `selected` and `finished` are None until then."""

    ROUNDS = frozenset({Kind.ROUND_BEGAN, Kind.ROUND_ENDED})
    ENDINGS = frozenset({Kind.CONTROL_REQUESTED, Kind.CONTROL_APPLIED, Kind.PROOF_SELECTED})
    KINDS = ROUNDS | ENDINGS | {Kind.RUN_FINISHED}

    began: set[Place] = field(default_factory=set)
    ended: dict[Place, RoundEnded] = field(default_factory=dict)
    hints: list[Numbered[ControlRequested]] = field(default_factory=list)
    selected: Numbered[ProofSelected] | None = None
    finished: RunFinished | None = None
    _asked: dict[str, ControlRequested] = field(default_factory=dict)

    @property
    def round(self) -> int:
        """The highest round that has begun; 0 before the first."""
        return max((round_ for _, round_ in self.began), default=0)

    def add(self, seq: int, event: Event) -> None:
        match event:
            case RoundBegan():
                self.began.add((event.rollout, event.round))
            case RoundEnded():
                self.ended[event.rollout, event.round] = event
            case ControlRequested(name="hint"):
                self._asked[event.command] = event
            case ControlApplied() if event.command in self._asked:
                self.hints.append((seq, self._asked[event.command]))
            case ProofSelected():
                self.selected = seq, event
            case RunFinished():
                self.finished = event
