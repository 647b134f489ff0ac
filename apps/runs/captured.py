"""Captured tokens on their way from a call's result into shards beside the database (`apps/datasets/shards.py` writes them).

The files are written before the transaction that records their calls, and their places in that transaction. A file whose
transaction fails is named by no row; it is written again under the same name with the next try, or left alone.
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
    from apps.runs.journal_batch import Plan


class TokensUnwritable(Exception):
    """The tokens of a run cannot be kept; the text says why."""


@dataclass(frozen=True)
class Captured:
    """The tokens of one completion of a recorded call; `sample` 0 is its answer."""

    key: str
    sample: int
    role: str
    finish_reason: FinishReason
    capture: Capture


Keep = Callable[[Run, Sequence[Captured]], Callable[[], None]]
"""Writes the tokens of one run to files; what it returns inserts their places, inside the transaction of their records."""


def captured_of(record: StepRecord) -> list[Captured]:
    """All completions of a call whose tokens came with it; none of a call that a fork took over."""
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
    """Write the files of every run of the batch that has captured tokens. Raises `TokensUnwritable`."""
    for plan in plans:
        found = [one for item in plan.items if item.record is not None for one in captured_of(item.record)]
        if not found:
            continue
        keep: Keep = import_string(settings.CAPTURE_KEEPER)
        try:
            plan.insert_tokens = keep(plan.journal.run, found)
        except OSError as error:
            raise TokensUnwritable(f"{error.strerror or error} ({error.filename or 'tokens'})") from error
