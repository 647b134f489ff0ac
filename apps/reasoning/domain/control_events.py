"""Events of commands by people. Part of the one vocabulary of events.py."""

from typing import Any, Literal

from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.kinds import Kind

CommandName = Literal[
    "pause", "resume", "cancel", "hint", "accept_lemma", "reject_lemma", "inject_lemma", "write_up", "extend_budget"
]


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
