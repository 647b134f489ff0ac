"""Conversations of models with tools: their turns, and how often a tool call worked."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from apps.reasoning.domain.agent_events import Lookup, TurnTaken
from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.events import CallFailed
from apps.reasoning.domain.prompt_events import PromptRefused
from apps.reasoning.story.parts import Part

K = TypeVar("K")
FAILED = "failed"
ACTION_WORDS = {
    "python_code": "runs code",
    "local_rag": "looks something up",
    "check_formulas": "tests formulas",
    "answer": "hands in a solution",
    "report": "hands in a report",
    "claim": "ends the round",
    "none": "no action",
    FAILED: "failed",
}
#: Actions that end a conversation.
_ENDS = ("answer", "report", "claim", FAILED)
_CALL_OF_TURN = re.compile(r"(.+)/turn/(\d+)")


@dataclass(frozen=True)
class Turn:
    """One turn. `succeeded` is None without a tool call; `action` is `FAILED` if its call failed or was not made."""

    number: int
    call: str
    action: str
    problem: str
    content: str = ""
    repairs: tuple[str, ...] = ()
    tool: str = ""
    response: str = ""
    succeeded: bool | None = None
    lookup: Lookup | None = None

    @property
    def word(self) -> str:
        """Its action in words."""
        return ACTION_WORDS[self.action]


@dataclass
class Talk:
    """A conversation so far. `most` is its limit of turns."""

    id: str
    role: str
    about: str
    round: int
    index: int
    most: int
    turns: list[Turn] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        return bool(self.turns) and (self.turns[-1].action in _ENDS or len(self.turns) == self.most)

    @property
    def is_evaluation(self) -> bool:
        return self.role == "evaluator"

    @property
    def title(self) -> str:
        if self.role == "reasoner":
            return f"{self.about.capitalize()} in round {self.round}"
        return f"{'Evaluator' if self.is_evaluation else 'Solver'} {self.index}"


@dataclass
class Talks(Part):
    """Conversations by id. `worked` of `wanted` tool calls; an unreadable action counts as a failed call."""

    KINDS = frozenset({Kind.TURN_TAKEN, Kind.CALL_FAILED, Kind.PROMPT_REFUSED})

    by_id: dict[str, Talk] = field(default_factory=dict)
    wanted: int = 0
    worked: int = 0
    repaired: int = 0

    @property
    def rate(self) -> float | None:
        """Per cent of tool calls that worked."""
        return 100 * self.worked / self.wanted if self.wanted else None

    @property
    def solving(self) -> dict[int, list[Talk]]:
        """The solvers' conversations by round."""
        return _grouped((talk.round, talk) for talk in self.by_id.values() if not talk.is_evaluation)

    @property
    def judging(self) -> dict[str, list[Talk]]:
        """The evaluators' conversations by candidate."""
        return _grouped((talk.about, talk) for talk in self.by_id.values() if talk.is_evaluation)

    def add(self, seq: int, event: Event) -> None:
        match event:
            case TurnTaken():
                self._take(event)
            case CallFailed() | PromptRefused():
                self._fail(event)

    def _take(self, event: TurnTaken) -> None:
        name = event.conversation
        if name not in self.by_id:
            self.by_id[name] = Talk(name, event.role, event.about, event.round, event.index, event.of)
        same = ("call", "action", "problem", "content", "repairs", "tool", "response", "succeeded", "lookup")
        turn = Turn(event.turn, **{one: getattr(event, one) for one in same})
        self.by_id[name].turns.append(turn)
        self.wanted += turn.succeeded is not None
        self.worked += bool(turn.succeeded)
        self.repaired += bool(turn.repairs)

    def _fail(self, event: CallFailed | PromptRefused) -> None:
        """End the conversation of a call that failed or was not made. A conversation needs a turn to be known."""
        match = _CALL_OF_TURN.fullmatch(event.call)
        if match and (talk := self.by_id.get(match[1])):
            talk.turns.append(Turn(int(match[2]), event.call, FAILED, (event.reason or "The call failed").rstrip(".")))


def _grouped(talks: Iterable[tuple[K, Talk]]) -> dict[K, list[Talk]]:
    """Conversations by key, each list by index."""
    found: dict[K, list[Talk]] = {}
    for key, talk in sorted(talks, key=lambda pair: pair[1].index):
        found.setdefault(key, []).append(talk)
    return found
