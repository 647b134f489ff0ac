"""The result of every import reader: a run as our events, with reports of parts that could not be read."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, Literal

from apps.reasoning.domain.event_base import Event
from apps.reasoning.domain.events import CallEnded
from apps.reasoning.domain.import_events import ImportUnread
from apps.reasoning.domain.outcomes import Outcome
from apps.reasoning.domain.records import StepRecord

#: Most unread parts that are listed; further ones are counted.
MOST_UNREAD = 200
_CALL_TAKES = timedelta(seconds=10)
_NEXT_AFTER = timedelta(seconds=0.5)
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)
_BLANK = re.compile(r"\n[ \t]*\n")

Times = Literal["recorded", "partly recorded", "order only"]


class LogWrong(ValueError):
    """The file cannot be imported; the message gives the reason and what to do."""


@dataclass(frozen=True)
class LogFile:
    """A file to import: name and bytes."""

    name: str
    data: bytes

    @property
    def text(self) -> str:
        """The text, with invalid UTF-8 replaced so that the rest can be imported."""
        return self.data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\0", "")


@dataclass
class ImportedEvent:
    """An event under its key, with its time (None if unknown) and the record of the call that it ends."""

    key: str
    event: Event
    at: datetime | None = None
    record: StepRecord | None = None
    texts: tuple[str, ...] = ()


@dataclass
class ImportedRun:
    """An imported run. `roles` maps roles to the names of their models."""

    format: str
    scaffold: str
    statement: str
    roles: dict[str, str]
    events: list[ImportedEvent] = field(default_factory=list)
    outcome: Outcome = field(default_factory=lambda: Outcome(accepted=None, reason="The file does not record the ending."))
    params: dict[str, Any] = field(default_factory=dict)
    _unread: int = 0

    def add(self, key: str, event: Event, at: datetime | None = None) -> None:
        """Add an event at the end."""
        self.events.append(ImportedEvent(key, event, at))

    def unread(self, where: str, reason: str, at: datetime | None = None) -> None:
        """Report a part that was not imported."""
        self._unread += 1
        if self._unread <= MOST_UNREAD:
            self.add(f"import/unread/{self._unread}", ImportUnread(where=where, reason=reason), at)

    def close(self) -> None:
        """Report the number of unread parts that are not listed."""
        if self._unread > MOST_UNREAD:
            more = ImportUnread(where="the rest", reason=f"{self._unread - MOST_UNREAD:,} more parts could not be read")
            self.add("import/unread/rest", more)

    @property
    def times(self) -> Times:
        """Whether all, some or none of the events have a time."""
        known = sum(one.at is not None for one in self.events)
        return "order only" if not known else "recorded" if known == len(self.events) else "partly recorded"


def fill_times(events: Sequence[ImportedEvent], last: datetime) -> None:
    """Give every event a time, ascending; missing times are interpolated.

    Calls get most of the time. Without any time in the file the run ends at `last`.
    """
    spent, at = [], timedelta()
    for one in events:
        at += _CALL_TAKES if isinstance(one.event, CallEnded) else _NEXT_AFTER
        spent.append(at)
    known = [(place, one.at) for place, one in enumerate(events) if one.at is not None]
    anchors: list[tuple[int, datetime]] = []
    for place, when in known:
        anchors.append((place, max(when, anchors[-1][1]) if anchors else when))
    if not anchors and events:
        anchors = [(len(events) - 1, last)]
    for (left, begin), (right, end) in pairwise(anchors):
        share = (end - begin) / (spent[right] - spent[left])
        for place in range(left, right):
            events[place].at = begin + (spent[place] - spent[left]) * share
    for place in range(anchors[0][0] + 1 if anchors else 0):
        events[place].at = anchors[0][1] - (spent[anchors[0][0]] - spent[place])
    for place in range(anchors[-1][0] if anchors else 0, len(events)):
        events[place].at = anchors[-1][1] + (spent[place] - spent[anchors[-1][0]])


def moment(value: object) -> datetime | None:
    """An ISO time or a count of seconds since 1970 as a time; None for other values. A time without a zone is UTC."""
    try:
        if isinstance(value, bool):
            return None
        if isinstance(value, int | float):
            found = datetime.fromtimestamp(value, tz=UTC)
        else:
            found = datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", str(value)))
    except (ValueError, OverflowError, OSError):
        return None
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return found if found.year > 1970 and found < _LATEST else None


def listed(found: Mapping[str, Any], name: str, where: str, imported: ImportedRun) -> list[Any]:
    """The list under `name`; for other values an empty list, with a report in the run."""
    value = found.get(name) or []
    if isinstance(value, list):
        return value
    imported.unread(where, f"its {name} are not a list" if where != name else "not a list")
    return []


def paragraphs(text: str) -> tuple[str, ...]:
    """Paragraphs of a proof. Display formulas are not split, and indented text belongs to the previous paragraph."""
    steps: list[str] = []
    for piece in _BLANK.split(text.strip()):
        is_open = bool(steps) and (steps[-1].count("$$") % 2 or steps[-1].count("\\[") > steps[-1].count("\\]"))
        if steps and (is_open or piece.startswith((" ", "\t"))):
            steps[-1] += f"\n\n{piece.rstrip()}"
        elif piece.strip():
            steps.append(piece.strip("\n").rstrip())
    return tuple(steps)
