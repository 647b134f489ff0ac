"""Commands of people to a running exploration, and their events. A command takes effect at a control point."""

from typing import Any, Literal

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.values import Value

CommandName = Literal[
    "pause", "resume", "cancel", "hint", "accept_lemma", "reject_lemma", "inject_lemma", "write_up", "extend_budget"
]


class Command(Value):
    """A recorded intent. `id` comes from the client, so that a repeated click is one command.

    `args` by name: hint `{text}`; accept_lemma, reject_lemma `{lemma, reason}`; inject_lemma `{statement, proof}`;
    extend_budget `{tokens?, calls?, seconds?, money?}` (amounts to add); the others none.
    """

    id: str
    name: CommandName
    by: str
    args: dict[str, Any] = {}


class ControlRequested(Event):
    kind = Kind.CONTROL_REQUESTED
    command: str
    name: CommandName
    by: str
    args: dict[str, Any]


class ControlApplied(Event):
    kind = Kind.CONTROL_APPLIED
    command: str
    name: CommandName
    point: str


class ControlRefused(Event):
    kind = Kind.CONTROL_REFUSED
    command: str
    name: CommandName
    reason: str
