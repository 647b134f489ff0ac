"""The content of one journal transaction: items, and their rows by run."""

import asyncio
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from apps.reasoning.domain.events import Event
from apps.reasoning.domain.records import StepRecord
from apps.reasoning.journal.keys import sha_of

if TYPE_CHECKING:
    from apps.runs.journal.run_journal import RunJournal

NumberedEvent = tuple[int, str, datetime, Event]
"""Seq, key, time and event."""
Announced = tuple[int, str]
"""An event's seq and its `EventRow` as JSON."""


@dataclass
class Item:
    """The content of one append to a `RunJournal`."""

    journal: "RunJournal"
    events: Sequence[tuple[str, Event]] = ()
    record: StepRecord | None = None
    texts: Sequence[str] = ()
    done: "asyncio.Future[None] | None" = None
    at: datetime | None = None
    """The time of an imported item; None for now."""


@dataclass
class Plan:
    """The part of a batch for one run."""

    journal: "RunJournal"
    items: list[Item]
    first_seq: int
    events: list[NumberedEvent] = field(default_factory=list)
    steps: list[Mapping[str, Any]] = field(default_factory=list)
    insert_tokens: Callable[[], None] | None = None
    """Inserts the places of written token files inside the transaction (`captured.tokens_write`)."""

    @property
    def last_seq(self) -> int:
        return self.first_seq + len(self.events) - 1

    @functools.cached_property
    def event_rows(self) -> list[Mapping[str, Any]]:
        """The rows of the table; `body` is JSON, encoded once for the table and for readers."""
        pk = self.journal.pk
        return [
            {"run_id": pk, "seq": seq, "key": key, "kind": event.kind, "at": at, "body": event.model_dump_json()}
            for seq, key, at, event in self.events
        ]

    @property
    def records(self) -> list[StepRecord]:
        return [item.record for item in self.items if item.record]

    @property
    def newest_round(self) -> int:
        """The highest round of the records; 0 without records."""
        return max((record.place.round for record in self.records), default=0)

    @property
    def spent(self) -> dict[str, float]:
        """The amounts that the batch adds to the counters of the run (`rows.COUNTERS`)."""
        asked = [one for one in self.records if one.was_asked]
        inherited = [one for one in self.records if one.was_inherited]
        sums: dict[str, float] = {**_sums(asked), "money": _money(asked, self.journal.run.spec.get("prices") or {})}
        return sums | {f"inherited_{name}": value for name, value in _sums(inherited).items()}

    @property
    def announced(self) -> list[Announced]:
        return [(row["seq"], _as_event_row(row)) for row in self.event_rows]


def texts_of(item: Item) -> dict[str, str]:
    """The texts of an item under their names: prompt parts and the model's texts."""
    record = item.record
    if record is None:
        return {}
    texts = dict(zip(record.prompt_shas, item.texts, strict=True)) if item.texts else {}
    if record.final is not None:
        texts.update({sha_of(text): text for text in (record.final.text, record.final.reasoning) if text})
    return texts


def _sums(records: Sequence[StepRecord]) -> dict[str, int]:
    return {
        "calls": len(records),
        "prompt_tokens": sum(one.usage.prompt for one in records),
        "completion_tokens": sum(one.usage.completion for one in records),
    }


def _money(records: Sequence[StepRecord], prices: Mapping[str, Mapping[str, float]]) -> float:
    """The cost of calls by the prices of the specification, per million tokens (`spec.money_of`)."""
    if not prices:
        return 0.0
    each = ((prices[one.alias], one.usage) for one in records if one.alias in prices)
    return sum(price["input"] * use.prompt + price["output"] * use.completion for price, use in each) / 1_000_000


def _as_event_row(row: Mapping[str, Any]) -> str:
    """The row as `apps.runs.selectors.EventRow`, in JSON."""
    head = {"seq": row["seq"], "key": row["key"], "kind": row["kind"], "at": row["at"].isoformat()}
    return f'{json.dumps(head)[:-1]}, "body": {row["body"]}}}'
