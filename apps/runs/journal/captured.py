"""Captured tokens on their way from a call's result into shards outside the database (`datasets/tokens/shards.py` writes them).

Files are written before the transaction that records their calls; their places are inserted in that transaction. If it fails,
no row refers to the file, and the next attempt writes it again under the same name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from apps.reasoning.domain.generation import Capture, FinishReason
from apps.reasoning.domain.records import StepRecord
from apps.runs.models import Run

if TYPE_CHECKING:
    from apps.runs.journal.batch import Plan


class TokensUnwritable(Exception):
    """The tokens of a run cannot be stored; the message gives the reason."""


@dataclass(frozen=True)
class Captured:
    """The tokens of one completion of a recorded call; `sample` 0 is its answer."""

    key: str
    sample: int
    role: str
    finish_reason: FinishReason
    capture: Capture


Keep = Callable[[Run, Sequence[Captured]], Callable[[], None]]
"""Writes the tokens of one run to files; what it returns inserts their places, in the transaction of their records."""


def captured_of(record: StepRecord) -> list[Captured]:
    """All completions of a call that have tokens; empty for a call that a fork took over."""
    final = record.final
    if final is None or not record.was_asked:
        return []
    found = [(final.finish_reason, final.capture), *((one.finish_reason, one.capture) for one in final.more)]
    return [
        Captured(record.key, sample, record.role, reason, capture)
        for sample, (reason, capture) in enumerate(found)
        if capture is not None
    ]


def tokens_write(plans: Sequence["Plan"]) -> None:
    """Write the token files of every run of the batch. Raises `TokensUnwritable`."""
    for plan in plans:
        found = [one for item in plan.items if item.record is not None for one in captured_of(item.record)]
        if not found:
            continue
        keep: Keep = import_string(settings.CAPTURE_KEEPER)
        try:
            plan.insert_tokens = keep(plan.journal.run, found)
        except OSError as error:
            raise TokensUnwritable(f"{error.strerror or error} ({error.filename or 'tokens'})") from error
