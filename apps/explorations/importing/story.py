"""What every reader of foreign logs makes: a run told in our own events, and a list of what it could not read."""

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

#: So many unread pieces are listed one by one; what is beyond is counted.
MOST_UNREAD = 200
_CALL_TAKES = timedelta(seconds=10)
_NEXT_AFTER = timedelta(seconds=0.5)
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)
_BLANK = re.compile(r"\n[ \t]*\n")

Times = Literal["recorded", "partly recorded", "order only"]


class LogWrong(ValueError):
    """The file as a whole cannot be imported; the message says why and what to do."""


@dataclass(frozen=True)
class LogFile:
    """A file to import: its name for people, and its bytes."""

    name: str
    data: bytes

    @property
    def text(self) -> str:
        """Bytes that are no UTF-8 become the replacement sign, so that one of them does not cost the whole file."""
        return self.data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\0", "")


@dataclass
class Told:
    """An event under its key, when it happened (None: the file does not say), and the record of the call that it ends."""

    key: str
    event: Event
    at: datetime | None = None
    record: StepRecord | None = None
    texts: tuple[str, ...] = ()


@dataclass
class Story:
    """A run as a file tells it. `roles` maps roles to the names of the models that played them."""

    format: str
    scaffold: str
    statement: str
    roles: dict[str, str]
    told: list[Told] = field(default_factory=list)
    outcome: Outcome = field(default_factory=lambda: Outcome(accepted=None, reason="The file does not say how it ended."))
    params: dict[str, Any] = field(default_factory=dict)
    _unread: int = 0

    def tell(self, key: str, event: Event, at: datetime | None = None) -> None:
        """Add an event at the end."""
        self.told.append(Told(key, event, at))

    def unread(self, where: str, reason: str, at: datetime | None = None) -> None:
        """Say what was not taken over, at this place of the story."""
        self._unread += 1
        if self._unread <= MOST_UNREAD:
            self.tell(f"import/unread/{self._unread}", ImportUnread(where=where, reason=reason), at)

    def close(self) -> None:
        """Say how many unread pieces are not listed."""
        if self._unread > MOST_UNREAD:
            more = ImportUnread(where="the rest", reason=f"{self._unread - MOST_UNREAD:,} more pieces could not be read")
            self.tell("import/unread/rest", more)

    @property
    def times(self) -> Times:
        """How many of the events have a time of their own."""
        known = sum(one.at is not None for one in self.told)
        return "order only" if not known else "recorded" if known == len(self.told) else "partly recorded"


def fill_times(told: Sequence[Told], last: datetime) -> None:
    """Give every event a time, ascending: what the file does not say is spread between what it says.

    Calls weigh most, as they take the time. Without any time in the file the story ends at `last`.
    """
    spent, at = [], timedelta()
    for one in told:
        at += _CALL_TAKES if isinstance(one.event, CallEnded) else _NEXT_AFTER
        spent.append(at)
    known = [(place, one.at) for place, one in enumerate(told) if one.at is not None]
    anchors: list[tuple[int, datetime]] = []
    for place, when in known:
        anchors.append((place, max(when, anchors[-1][1]) if anchors else when))
    if not anchors and told:
        anchors = [(len(told) - 1, last)]
    for (left, begin), (right, end) in pairwise(anchors):
        share = (end - begin) / (spent[right] - spent[left])
        for place in range(left, right):
            told[place].at = begin + (spent[place] - spent[left]) * share
    for place in range(anchors[0][0] + 1 if anchors else 0):
        told[place].at = anchors[0][1] - (spent[anchors[0][0]] - spent[place])
    for place in range(anchors[-1][0] if anchors else 0, len(told)):
        told[place].at = anchors[-1][1] + (spent[place] - spent[anchors[-1][0]])


def moment(value: object) -> datetime | None:
    """An ISO time or a count of seconds since 1970 as a time; None where it is neither. Without a zone it counts as UTC."""
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


def listed(found: Mapping[str, Any], name: str, where: str, story: Story) -> list[Any]:
    """The list that stands under `name`; an empty one, and a word in the story, where something else does."""
    value = found.get(name) or []
    if isinstance(value, list):
        return value
    story.unread(where, f"its {name} are no list" if where != name else "no list")
    return []


def paragraphs(text: str) -> tuple[str, ...]:
    """A proof by paragraphs; no display formula is cut in two, and what is indented goes on with what stands before it."""
    steps: list[str] = []
    for piece in _BLANK.split(text.strip()):
        is_open = bool(steps) and (steps[-1].count("$$") % 2 or steps[-1].count("\\[") > steps[-1].count("\\]"))
        if steps and (is_open or piece.startswith((" ", "\t"))):
            steps[-1] += f"\n\n{piece.rstrip()}"
        elif piece.strip():
            steps.append(piece.strip("\n").rstrip())
    return tuple(steps)
