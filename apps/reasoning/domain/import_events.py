"""Events of runs imported from a file: their source, and its unreadable pieces.

Part of the one vocabulary of events.py.
"""

from typing import Literal

from apps.reasoning.domain.event_base import Event, Kind


class ImportSource(Event):
    """The file of an imported run. `sha256` is that of its bytes (for several files, in the order of their names).

    `times`: the file has all times, some (the others are spread evenly between them), or only an order.
    """

    kind = Kind.IMPORT_SOURCE
    format: str
    file: str
    sha256: str
    source: str = ""
    licence: str = ""
    times: Literal["recorded", "partly recorded", "order only"]


class ImportUnread(Event):
    """A piece of the file that was not imported. `where` is its place in words (`line 12`)."""

    kind = Kind.IMPORT_UNREAD
    where: str
    reason: str
