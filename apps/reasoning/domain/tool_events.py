"""Events of tool calls. Part of the one vocabulary of events.py."""

from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.tools import ExecutionError, ToolJob


class ToolBegan(Event):
    """A tool was asked. `call` is the key of its record; the content stands behind it as a prompt does."""

    kind = "tool.began"
    call: str
    job: ToolJob
    alias: str
    rollout: int
    round: int
    subject: str = ""
    index: int = 0


class ToolEnded(Event):
    """A tool answered. `error` says how its code ended, empty where it ended well; the whole answer is `text_sha`."""

    kind = "tool.ended"
    call: str
    job: ToolJob
    attempt: int
    error: ExecutionError
    truncated: bool
    duration_s: float
    text_sha: str


class ToolFailed(Event):
    """A tool gave no answer; the run goes on without. `is_off` where no tool of its kind works here just now."""

    kind = "tool.failed"
    call: str
    job: ToolJob
    reason: str
    is_off: bool = False


CLASSES: tuple[type[Event], ...] = (ToolBegan, ToolEnded, ToolFailed)
