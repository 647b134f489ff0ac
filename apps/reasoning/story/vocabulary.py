"""All events by kind, and how a stored one is loaded."""

from typing import Any

from apps.reasoning.domain import (
    agent_events,
    candidate_events,
    check_events,
    control,
    events,
    grading_events,
    import_events,
    prompt_events,
    tool_events,
    trial_events,
)
from apps.reasoning.domain.event_base import Event

_MODULES = (
    agent_events,
    candidate_events,
    check_events,
    control,
    events,
    grading_events,
    import_events,
    prompt_events,
    tool_events,
    trial_events,
)
EVENT_CLASSES: dict[str, type[Event]] = {
    cls.kind: cls
    for module in _MODULES
    for cls in vars(module).values()
    if isinstance(cls, type) and issubclass(cls, Event) and cls is not Event
}


def event_from(kind: str, body: dict[str, Any]) -> Event:
    """Load the event stored as `(kind, body)`. Raises `KeyError` for an unknown kind, `ValueError` for an invalid body."""
    return EVENT_CLASSES[kind].model_validate(body)
