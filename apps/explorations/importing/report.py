"""Source of an imported run and the parts that were not imported, for its page and the import command."""

from dataclasses import dataclass
from typing import Any

from apps.reasoning.domain.event_base import Kind
from apps.runs.models import Run

TIMES = {
    "recorded": "",
    "partly recorded": "The file has only some times. Times between them are estimates.",
    "order only": "The file has no times. The order of events is known; the times shown are estimates.",
}


@dataclass(frozen=True)
class Unread:
    """A part of the file that was not imported, with the reason."""

    seq: int
    where: str
    reason: str


@dataclass(frozen=True)
class Origin:
    """The source of an imported run."""

    source: dict[str, Any]
    times: str
    unread: list[Unread]


def unread_of(run: Run) -> list[Unread]:
    """Parts that were not imported, in the order of the file."""
    rows = run.events.filter(kind=Kind.IMPORT_UNREAD).order_by("seq").values_list("seq", "body")
    return [Unread(seq, body["where"], body["reason"]) for seq, body in rows]


def origin_of(run: Run) -> Origin | None:
    """The origin of an imported run; None for other runs."""
    if not run.is_imported:
        return None
    source = run.events.filter(kind=Kind.IMPORT_SOURCE).values_list("body", flat=True).first()
    return Origin(source, TIMES.get(source["times"], ""), unread_of(run)) if source else None
