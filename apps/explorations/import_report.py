"""Where an imported run is from and what was not taken over, as its page and the import command say it."""

from dataclasses import dataclass
from typing import Any

from apps.runs.models import Run

TIMES = {
    "recorded": "",
    "partly recorded": "The file has some times; those between are spread evenly.",
    "order only": "The file has no times: only the order of what happened is known, and the times shown are made up.",
}


@dataclass(frozen=True)
class Unread:
    """A piece of the file that was not taken over, and why."""

    seq: int
    where: str
    reason: str


@dataclass(frozen=True)
class Origin:
    """The file of an imported run."""

    source: dict[str, Any]
    times: str
    unread: list[Unread]


def unread_of(run: Run) -> list[Unread]:
    """What was not taken over, in the order of the file."""
    rows = run.events.filter(kind="import.unread").order_by("seq").values_list("seq", "body")
    return [Unread(seq, body["where"], body["reason"]) for seq, body in rows]


def origin_of(run: Run) -> Origin | None:
    """The origin of an imported run; None for a run of ours."""
    if not run.is_imported:
        return None
    source = run.events.filter(kind="import.source").values_list("body", flat=True).first()
    return Origin(source, TIMES.get(source["times"], ""), unread_of(run)) if source else None
