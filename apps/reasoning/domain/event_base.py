"""The base class of all events, in a file of its own so that several files can define events."""

from typing import ClassVar

from apps.reasoning.domain.kinds import Kind
from apps.reasoning.domain.values import Value


class Event(Value):
    """Base of all events. `kind` is the stored name."""

    kind: ClassVar[Kind]
