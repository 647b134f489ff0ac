"""Answering what was asked of graders: rows are claimed under a lease, so that what a dead process left is answered by another.

Quick graders are asked one script at a time in each process; those of families, which wait for models, several at a time, each
in a task of its own.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import connections
from django.db.models import Q, QuerySet
from django.db.utils import DatabaseError
from django.utils import timezone

from apps.marks.graders import Grader, GraderFailed, GraderStep, GraderStopped, Question
from apps.marks.graders.families import GraderUnknown, grader_of
from apps.marks.graders.scripted import SCRIPTED
from apps.marks.models import Suggestion, SuggestionState
from apps.reasoning.marking.scheme import Scheme
from apps.reasoning.marking.suggestion import SuggestionBody, SuggestionWrong, suggestion_checked
from apps.schemes.models import SchemeVersion
from apps.submissions.models import SubmissionVersion

logger = logging.getLogger(__name__)
#: A suggestion whose lease was not renewed for so long was lost on the way; it is answered by whoever comes next.
LOST_AFTER = timedelta(minutes=2)
RENEWED_EVERY_S = 30.0
QUICK, FAMILIES = "quick", "families"
#: How many at a time are answered in this process.
WIDTH = {QUICK: 1, FAMILIES: max(1, settings.SUGGESTIONS_AT_ONCE)}
_AT_WORK = {lane: threading.BoundedSemaphore(width) for lane, width in WIDTH.items()}


def lost() -> Q:
    """What somebody began and no longer holds."""
    return Q(state=SuggestionState.RUNNING) & (Q(lease_until=None) | Q(lease_until__lt=timezone.now()))


def waiting(lane: str) -> QuerySet[Suggestion]:
    """What no process has begun, or what was lost on the way, oldest first; of quick graders or of families."""
    rows = Suggestion.objects.filter(Q(state=SuggestionState.QUEUED) | lost()).exclude(grader=SCRIPTED)
    rows = rows.filter(grader__contains=":") if lane == FAMILIES else rows.exclude(grader__contains=":")
    return rows.select_related("scheme_version", "version__submission__problem__version").order_by("created_at", "pk")


def suggestions_work(lane: str = QUICK) -> None:
    """Answer what waits in a lane; the body of the task.

    Who finds as many at work in this process as the lane is wide leaves it to them. What is queued in the moment of stopping
    is seen by the last look.
    """
    while waiting(lane).exists():
        if not _AT_WORK[lane].acquire(blocking=False):
            return
        try:
            if not _one_after_the_other(lane):
                return
        finally:
            _AT_WORK[lane].release()


def _one_after_the_other(lane: str) -> bool:
    """Answer rows until none waits; False where this process is ending."""
    while (row := waiting(lane).first()) is not None:
        try:
            grader = grader_of(row.grader, row.version.submission.problem.version, _scheme(row))
        except GraderUnknown as unknown:
            _close(row, SuggestionState.FAILED, reason=str(unknown))
            continue
        except Exception:
            logger.exception("grader %s", row.grader)
            _close(row, SuggestionState.FAILED, reason="The grader cannot be asked.")
            continue
        try:
            row_answer(row, grader)
        except GraderStopped:
            return False
    return True


def row_answer(row: Suggestion, grader: Grader) -> Suggestion:
    """Let the grader answer, unless it did or somebody else is waiting for it to. Raises `GraderStopped`."""
    is_free = Q(state__in=(SuggestionState.QUEUED, SuggestionState.FAILED)) | lost()
    now = timezone.now()
    claim = {"state": SuggestionState.RUNNING, "started_at": now, "lease_until": now + LOST_AFTER, "reason": ""}
    if Suggestion.objects.filter(is_free, pk=row.pk).update(**claim):
        with held(row.pk):
            _answer(row, grader)
    row.refresh_from_db()
    return row


def _answer(row: Suggestion, grader: Grader) -> None:
    try:
        body = body_checked(grader.answer(_question(row)), row.version, row.scheme_version)
    except GraderStopped:
        Suggestion.objects.filter(pk=row.pk, state=SuggestionState.RUNNING).update(state=SuggestionState.QUEUED)
        raise
    except (GraderFailed, SuggestionWrong) as error:
        logger.warning("suggestion %s by %s failed: %s", row.public_id, grader.name, error)
        _close(row, SuggestionState.FAILED, reason=str(error))
    except Exception:
        logger.exception("suggestion %s by %s", row.public_id, grader.name)
        _close(row, SuggestionState.FAILED, reason="The grader broke off.")
    else:
        _close(row, SuggestionState.DONE, body=body)


def _close(row: Suggestion, state: SuggestionState, *, reason: str = "", body: SuggestionBody | None = None) -> None:
    mine = Suggestion.objects.filter(pk=row.pk, state__in=(SuggestionState.QUEUED, SuggestionState.RUNNING))
    kept = body.model_dump(mode="json") if body else {}
    mine.update(state=state, reason=reason[:500], body=kept, done_at=timezone.now(), lease_until=None)


@contextmanager
def held(pk: int) -> Iterator[None]:
    """Renew the lease of a row while a grader is at work on it, however long it takes."""
    ended = threading.Event()

    def renew() -> None:
        try:
            while not ended.wait(RENEWED_EVERY_S):
                lease_renew(pk)
        finally:
            connections.close_all()

    thread = threading.Thread(target=renew, name="suggestion-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def lease_renew(pk: int) -> None:
    """Hold a row for another while. A database that is away costs the lease only where it stays away."""
    try:
        Suggestion.objects.filter(pk=pk, state=SuggestionState.RUNNING).update(lease_until=timezone.now() + LOST_AFTER)
    except DatabaseError as error:
        logger.warning("the lease of a suggestion was not renewed: %s", error)


def body_checked(body: SuggestionBody, version: SubmissionVersion, scheme_version: SchemeVersion | None) -> SuggestionBody:
    """The body, if all that it names is there. Raises `SuggestionWrong`."""
    steps = frozenset(version.steps.values_list("number", flat=True))
    content = scheme_version.content if scheme_version else None
    codes = [item.code for item in content.items] if content else []
    return suggestion_checked(body, version.source, steps, codes, content.scale if content else None)


def _scheme(row: Suggestion) -> Scheme | None:
    return row.scheme_version.content if row.scheme_version else None


def _question(row: Suggestion) -> Question:
    version = row.version
    steps = tuple(GraderStep(step.number, step.start, step.end) for step in version.steps.all())
    return Question(version.digest, version.source, steps, version.submission.problem.version.statement, _scheme(row))
