"""Events of prompts that were too long for the context of the model that was to read them (prompts/fitting.py)."""

from apps.reasoning.domain.event_base import Event


class PromptFitted(Event):
    """The prompt of `call` lacks something, so that it fits: passages by name, and characters from the middle of others."""

    kind = "prompt.fitted"
    call: str
    role: str
    left_out: tuple[str, ...] = ()
    shortened: dict[str, int] = {}


class PromptRefused(Event):
    """`call` was not made: its prompt is longer than the context even when it is as short as it may be."""

    kind = "prompt.refused"
    call: str
    role: str
    reason: str


CLASSES: tuple[type[Event], ...] = (PromptFitted, PromptRefused)
