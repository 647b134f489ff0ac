"""The base of all events, apart from the table of them, so that the table can be made of several files."""

from typing import ClassVar

from apps.reasoning.domain.values import Value


class Event(Value):
    """Base of all events. `kind` is the stored name."""

    kind: ClassVar[str]
