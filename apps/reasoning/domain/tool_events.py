"""Events of tool calls. Part of the one vocabulary of events.py."""

from apps.reasoning.domain.event_base import Event, Kind
from apps.reasoning.domain.tools import ExecutionError, ToolJob


class ToolBegan(Event):
    """A tool call began. `call` is the key of its record, which refers to the content as to a prompt."""

    kind = Kind.TOOL_BEGAN
    call: str
    job: ToolJob
    alias: str
    rollout: int
    round: int
    subject: str = ""
    index: int = 0


class ToolEnded(Event):
    """A tool answered. `error` says how its code failed, or is empty; `text_sha` names the whole answer."""

    kind = Kind.TOOL_ENDED
    call: str
    job: ToolJob
    attempt: int
    error: ExecutionError
    truncated: bool
    duration_s: float
    text_sha: str


class ToolFailed(Event):
    """A tool gave no answer; the run continues without it. `is_off`: no tool of this kind is available at the moment."""

    kind = Kind.TOOL_FAILED
    call: str
    job: ToolJob
    reason: str
    is_off: bool = False
