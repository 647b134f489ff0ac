"""Transcribe requested pages in the orchestrator, with calls over the queue of the model's workers.

Each page is one call. A call without an answer after `TRANSCRIPTION_WITHIN_S` seconds fails with a reason for the author.
The caller supplies functions to send and stop calls, because this app is below the one that knows the broker.
"""

import asyncio
import logging
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.reasoning.ports import Dispatcher
from apps.reasoning.transcribing import PageRead, PageReader, PageUnread
from apps.submissions.models import REASON_LENGTH, REVISION_LENGTH, Transcription, TranscriptionState

logger = logging.getLogger(__name__)
AT_ONCE = 4
#: Share of a model's context for output tokens, and their maximum; the image uses the rest.
OUTPUT_SHARE, OUTPUT_TOKENS_MAX = 0.5, 8_192
INTERRUPTED = "Reading failed unexpectedly. Try again later, or type the content of the page."

DispatcherFor = Callable[[str, Sequence[Alias]], AbstractAsyncContextManager[Dispatcher]]
CallsStop = Callable[[str], None]
ModelsKnown = Callable[[], dict[str, Alias]]


@dataclass
class _Job:
    """A page claimed by this process. `began` identifies the claim: each new claim writes another time."""

    row: Transcription
    alias: Alias
    run: str
    began: datetime
    number: int
    count: int
    read: PageRead | None = None
    reason: str = ""


def models_for_pages() -> dict[str, Alias]:
    """Usable models by alias. Raises `AliasError`."""
    return load_usable(settings.MODELS_FILE)


def pages_work(dispatcher_for: DispatcherFor, calls_stop: CallsStop, models: ModelsKnown = models_for_pages) -> int:
    """Transcribe all waiting pages, `AT_ONCE` at a time. Returns their number."""
    taken = 0
    while rows := list(_waiting()[:AT_ONCE]):
        jobs = [job for row in rows if (job := _claim(row, models)) is not None]
        asyncio.run(_read_all(jobs, dispatcher_for, calls_stop))
        for job in jobs:
            _store(job)
        taken += len(rows)
    return taken


def _waiting() -> QuerySet[Transcription]:
    """Queued and abandoned pages, oldest first."""
    rows = Transcription.objects.filter(Q(state=TranscriptionState.QUEUED) | _abandoned()).exclude(scan__position=None)
    return rows.select_related("scan__submission").order_by("asked_at", "pk")


def _abandoned() -> Q:
    """Condition for pages whose process must have died."""
    ago = timezone.now() - timedelta(seconds=2 * settings.TRANSCRIPTION_WITHIN_S)
    return Q(state=TranscriptionState.RUNNING, started_at__lt=ago)


def _claim(row: Transcription, models: ModelsKnown) -> _Job | None:
    """Claim a page; None if another process claimed it or its model is unavailable."""
    began = timezone.now()
    mine = Transcription.objects.filter(Q(state=TranscriptionState.QUEUED) | _abandoned(), pk=row.pk)
    if not mine.update(state=TranscriptionState.RUNNING, started_at=began):
        return None
    places = list(row.scan.submission.scans.exclude(position=None).values_list("pk", flat=True))
    number = places.index(row.scan_id) + 1 if row.scan_id in places else 1
    try:
        alias = models().get(row.alias)
    except AliasError as error:
        _store_failure(row, began, str(error))
        return None
    if alias is None or not alias.vision:
        _store_failure(row, began, f"The model {row.alias} can no longer read images.")
        return None
    return _Job(row, alias, f"page-{uuid.uuid4()}", began, number, max(len(places), 1))


async def _read_all(jobs: Sequence[_Job], dispatcher_for: DispatcherFor, calls_stop: CallsStop) -> None:
    await asyncio.gather(*(_read(job, dispatcher_for, calls_stop) for job in jobs))


async def _read(job: _Job, dispatcher_for: DispatcherFor, calls_stop: CallsStop) -> None:
    """Call the model and store its text, or the reason of a failure, in the job."""
    within = settings.TRANSCRIPTION_WITHIN_S
    tokens = min(int(job.alias.context_tokens * OUTPUT_SHARE), OUTPUT_TOKENS_MAX)
    try:
        async with asyncio.timeout(within), dispatcher_for(job.run, [job.alias]) as dispatcher:
            reader = PageReader(dispatcher, job.run, job.alias.name, tokens=tokens, deadline_s=within)
            job.read = await reader.read(bytes(job.row.scan.jpeg), number=job.number, count=job.count)
    except PageUnread as error:
        job.reason = str(error)
    except TimeoutError:
        job.reason = f"The model did not answer within {within:g} s. Ask again later, or type the content of the page."
        await asyncio.to_thread(calls_stop, job.run)
    except Exception:  # A failing page must not block the others.
        logger.exception("Transcription by %s failed", job.alias.name)
        job.reason = INTERRUPTED


def _store(job: _Job) -> None:
    """Store the result unless the author dismissed the request meanwhile."""
    if job.read is None:
        _store_failure(job.row, job.began, job.reason)
        return
    _own_claim(job.row, job.began).update(
        state=TranscriptionState.READY,
        text=job.read.text,
        edited=job.read.text,
        revision=job.read.revision[:REVISION_LENGTH],
        tokens=job.read.usage.prompt + job.read.usage.completion,
        done_at=timezone.now(),
    )


def _store_failure(row: Transcription, began: datetime, reason: str) -> None:
    logger.warning("Transcription by %s failed: %s", row.alias, reason)
    now = timezone.now()
    _own_claim(row, began).update(state=TranscriptionState.FAILED, reason=reason[:REASON_LENGTH], done_at=now)


def _own_claim(row: Transcription, began: datetime) -> QuerySet[Transcription]:
    return Transcription.objects.filter(pk=row.pk, state=TranscriptionState.RUNNING, started_at=began)
