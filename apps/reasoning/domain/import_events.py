"""Events of runs that were made elsewhere and read from a file: where they come from, and what could not be read.

Part of the one vocabulary of events.py.
"""

from typing import Literal

from apps.reasoning.domain.event_base import Event


class ImportSource(Event):
    """The file a run was read from. `sha256` is that of its bytes (of several files, in the order of their names).

    `times` says whether the file has times: all of them, some (the rest is spread evenly between), or only an order.
    """

    kind = "import.source"
    format: str
    file: str
    sha256: str
    source: str = ""
    licence: str = ""
    times: Literal["recorded", "partly recorded", "order only"]


class ImportUnread(Event):
    """A piece of the file that was not taken over. `where` names the place as a person finds it (`line 12`)."""

    kind = "import.unread"
    where: str
    reason: str


CLASSES: tuple[type[Event], ...] = (ImportSource, ImportUnread)
