"""The orchestrator's work on pages: those that authors asked for are read by the model, over the queue of its workers.

Each page is one call. What nobody answers in `TRANSCRIPTION_WITHIN_S` fails with a sentence, and the author types as before.
Whoever starts this says how calls are sent and stopped: this app stands below the one that knows the broker.
"""

import asyncio
import logging
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import close_old_connections
from django.db.models import Q, QuerySet
from django.db.utils import DatabaseError
from django.utils import timezone

from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias, load_usable
from apps.reasoning.ports import Dispatcher
from apps.reasoning.transcribing import PageRead, PageReader, PageUnread
from apps.submissions.models import REASON_LENGTH, REVISION_LENGTH, Transcription, TranscriptionState

logger = logging.getLogger(__name__)
EVERY_S = 2.0
AT_ONCE = 4
#: Of a model's context, the part that may be written; the rest is the picture.
WRITTEN_PART, WRITTEN_AT_MOST = 0.5, 8_192
BROKE_OFF = "The reading broke off."

DispatcherFor = Callable[[str, Sequence[Alias]], AbstractAsyncContextManager[Dispatcher]]
CallsStop = Callable[[str], None]
ModelsKnown = Callable[[], dict[str, Alias]]


@dataclass
class _Job:
    """A page that this process took. `began` is what it wrote into the row: whoever takes it anew writes another time."""

    row: Transcription
    alias: Alias
    run: str
    began: datetime
    number: int
    count: int
    read: PageRead | None = None
    reason: str = ""


def models_for_pages() -> dict[str, Alias]:
    """The models that people may use. Raises `AliasError`."""
    return load_usable(settings.MODELS_FILE)


def pages_work(dispatcher_for: DispatcherFor, calls_stop: CallsStop, models: ModelsKnown = models_for_pages) -> int:
    """Read what waits, a few pages at a time; how many were taken."""
    taken = 0
    while rows := list(_waiting()[:AT_ONCE]):
        jobs = [job for row in rows if (job := _taken(row, models)) is not None]
        asyncio.run(_all_read(jobs, dispatcher_for, calls_stop))
        for job in jobs:
            _kept(job)
        taken += len(rows)
    return taken


def start(dispatcher_for: DispatcherFor, calls_stop: CallsStop) -> threading.Thread:
    """Read until the process ends."""
    thread = threading.Thread(target=_work_for_ever, args=(dispatcher_for, calls_stop), name="pages", daemon=True)
    thread.start()
    return thread


def _waiting() -> QuerySet[Transcription]:
    """What no process has begun or what was lost on the way, oldest first."""
    rows = Transcription.objects.filter(Q(state=TranscriptionState.QUEUED) | _lost()).exclude(scan__position=None)
    return rows.select_related("scan__submission").order_by("asked_at", "pk")


def _lost() -> Q:
    """What somebody began so long ago that they must have died."""
    ago = timezone.now() - timedelta(seconds=2 * settings.TRANSCRIPTION_WITHIN_S)
    return Q(state=TranscriptionState.RUNNING, started_at__lt=ago)


def _taken(row: Transcription, models: ModelsKnown) -> _Job | None:
    """The page as work of this process; None where another took it or its model is gone."""
    began = timezone.now()
    mine = Transcription.objects.filter(Q(state=TranscriptionState.QUEUED) | _lost(), pk=row.pk)
    if not mine.update(state=TranscriptionState.RUNNING, started_at=began):
        return None
    places = list(row.scan.submission.scans.exclude(position=None).values_list("pk", flat=True))
    number = places.index(row.scan_id) + 1 if row.scan_id in places else 1
    try:
        alias = models().get(row.alias)
    except AliasError as error:
        _failed(row, began, str(error))
        return None
    if alias is None or not alias.vision:
        _failed(row, began, f"There is no model {row.alias} that looks at pictures any more.")
        return None
    return _Job(row, alias, f"page-{uuid.uuid4()}", began, number, max(len(places), 1))


async def _all_read(jobs: Sequence[_Job], dispatcher_for: DispatcherFor, calls_stop: CallsStop) -> None:
    await asyncio.gather(*(_read(job, dispatcher_for, calls_stop) for job in jobs))


async def _read(job: _Job, dispatcher_for: DispatcherFor, calls_stop: CallsStop) -> None:
    """Let the model read; the job holds the text, or the reason why there is none."""
    within = settings.TRANSCRIPTION_WITHIN_S
    tokens = min(int(job.alias.context_tokens * WRITTEN_PART), WRITTEN_AT_MOST)
    try:
        async with asyncio.timeout(within), dispatcher_for(job.run, [job.alias]) as dispatcher:
            reader = PageReader(dispatcher, job.run, job.alias.name, tokens=tokens, deadline_s=within)
            job.read = await reader.read(bytes(job.row.scan.jpeg), number=job.number, count=job.count)
    except PageUnread as error:
        job.reason = str(error)
    except TimeoutError:
        job.reason = f"Nothing came back within {within:g} s. Ask again later, or type what the page says."
        await asyncio.to_thread(calls_stop, job.run)
    except Exception:  # One page must not keep the others from being read.
        logger.exception("a page read by %s", job.alias.name)
        job.reason = BROKE_OFF


def _kept(job: _Job) -> None:
    """Keep what came about, unless its author laid it aside meanwhile."""
    if job.read is None:
        _failed(job.row, job.began, job.reason)
        return
    _mine(job.row, job.began).update(
        state=TranscriptionState.READY,
        text=job.read.text,
        edited=job.read.text,
        revision=job.read.revision[:REVISION_LENGTH],
        tokens=job.read.usage.prompt + job.read.usage.completion,
        done_at=timezone.now(),
    )


def _failed(row: Transcription, began: datetime, reason: str) -> None:
    logger.warning("a page was not read by %s: %s", row.alias, reason)
    told = {"reason": reason[:REASON_LENGTH], "done_at": timezone.now()}
    _mine(row, began).update(state=TranscriptionState.FAILED, **told)


def _mine(row: Transcription, began: datetime) -> QuerySet[Transcription]:
    return Transcription.objects.filter(pk=row.pk, state=TranscriptionState.RUNNING, started_at=began)


def _work_for_ever(dispatcher_for: DispatcherFor, calls_stop: CallsStop) -> None:
    while True:
        close_old_connections()
        try:
            pages_work(dispatcher_for, calls_stop)
        except DatabaseError as error:
            logger.warning("pages wait for the database: %s", error)
        except Exception:
            logger.exception("reading pages")
        time.sleep(EVERY_S)
