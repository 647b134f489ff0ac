"""Commands of people to a running exploration, and their events. A command takes effect at a control point."""

from typing import Any, Literal

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.values import Value

CommandName = Literal[
    "pause",
    "resume",
    "cancel",
    "hint",
    "accept_lemma",
    "reject_lemma",
    "inject_lemma",
    "write_up",
    "extend_budget",
    "leave_out_lemma",
    "correct_lemma",
]
Change = Literal["unchanged", "hint", "without", "corrected"]


class Command(Value):
    """A recorded intent. `id` comes from the client, so that a repeated click is one command.

    `args` by name: hint `{text}`; accept_lemma, reject_lemma `{lemma, reason}`; inject_lemma `{statement, proof}`;
    extend_budget `{tokens?, calls?, seconds?, money?}` (amounts to add); the others none. Only a fork has leave_out_lemma
    `{lemma}` and correct_lemma `{lemma, statement, proof, accepted}`.
    """

    id: str
    name: CommandName
    by: str
    args: dict[str, Any] = {}


class Branch(Value):
    """Where a fork leaves the course of its parent, and what a person changed there.

    `run` and `seq` name the parent and the event that was chosen. Records of the parent are taken over up to the control point
    `point`, where `commands` take effect; commands to the parent after this point are not.
    """

    run: str
    seq: int
    point: str
    change: Change = "unchanged"
    commands: tuple[Command, ...] = ()


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
