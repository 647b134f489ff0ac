"""Events of prompts that are too long for their model's context (prompts/fitting.py)."""

from apps.reasoning.domain.event_base import Event, Kind


class PromptFitted(Event):
    """The prompt of `call` was shortened to fit: whole passages by name, and characters from the middle of others."""

    kind = Kind.PROMPT_FITTED
    call: str
    role: str
    left_out: tuple[str, ...] = ()
    shortened: dict[str, int] = {}


class PromptRefused(Event):
    """`call` was not made: even its shortest permitted prompt exceeds the context."""

    kind = Kind.PROMPT_REFUSED
    call: str
    role: str
    reason: str
