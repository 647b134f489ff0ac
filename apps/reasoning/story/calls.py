"""Calls of models and tools: what is open, what ended, what could not be read or did not fit its model."""

from dataclasses import dataclass, field

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.events import CallBegan, CallEnded, CallFailed, OutputUnread
from apps.reasoning.domain.prompt_events import PromptFitted, PromptRefused
from apps.reasoning.domain.tool_events import ToolBegan, ToolEnded, ToolFailed
from apps.reasoning.story.parts import Numbered, Part


@dataclass
class Calls(Part):
    """`open` and `tools` are the running calls of models and of tools, by key."""

    PROMPTS = frozenset({Kind.PROMPT_FITTED, Kind.PROMPT_REFUSED})
    READINGS = PROMPTS | {Kind.OUTPUT_UNREAD}
    KINDS = READINGS | {
        Kind.CALL_BEGAN, Kind.CALL_ENDED, Kind.CALL_FAILED, Kind.TOOL_BEGAN, Kind.TOOL_ENDED, Kind.TOOL_FAILED
    }  # fmt: skip

    open: dict[str, CallBegan] = field(default_factory=dict)
    tools: dict[str, ToolBegan] = field(default_factory=dict)
    unread: list[Numbered[OutputUnread]] = field(default_factory=list)
    fitted: list[PromptFitted] = field(default_factory=list)
    refused: list[PromptRefused] = field(default_factory=list)

    @property
    def lost(self) -> list[Numbered[OutputUnread]]:
        """Answers that count for nothing: neither asked for again nor read in part."""
        return [(seq, one) for seq, one in self.unread if not (one.again or one.part)]

    def add(self, seq: int, event: Event) -> None:
        match event:
            case CallBegan():
                self.open[event.call] = event
            case CallEnded() | CallFailed():
                self.open.pop(event.call, None)
            case ToolBegan():
                self.tools[event.call] = event
            case ToolEnded() | ToolFailed():
                self.tools.pop(event.call, None)
            case OutputUnread():
                self.unread.append((seq, event))
            case PromptFitted():
                self.fitted.append(event)
            case PromptRefused():
                self.refused.append(event)
