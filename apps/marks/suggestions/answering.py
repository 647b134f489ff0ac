"""Answer the questions put to graders. Workers claim rows under a lease, so another worker can take over lost rows.

Quick graders run one script at a time in each process. Grader families wait for models, so several of their rows run at
once, each in its own task.
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
from apps.reasoning.marking.schemes.scheme import Scheme
from apps.reasoning.marking.suggestion import SuggestionBody, SuggestionWrong, suggestion_checked
from apps.schemes.models import SchemeVersion
from apps.submissions.models import SubmissionVersion

logger = logging.getLogger(__name__)
#: Without a renewal for this long, a suggestion counts as lost and the next worker answers it.
LOST_AFTER = timedelta(minutes=2)
RENEWED_EVERY_S = 30.0
QUICK, FAMILIES = "quick", "families"
#: Rows answered at once in this process, by lane.
WIDTH = {QUICK: 1, FAMILIES: max(1, settings.SUGGESTIONS_AT_ONCE)}
_AT_WORK = {lane: threading.BoundedSemaphore(width) for lane, width in WIDTH.items()}


def lost() -> Q:
    """Running suggestions whose lease has expired."""
    return Q(state=SuggestionState.RUNNING) & (Q(lease_until=None) | Q(lease_until__lt=timezone.now()))


def waiting(lane: str) -> QuerySet[Suggestion]:
    """Queued and lost suggestions of one lane (quick graders or families), oldest first."""
    rows = Suggestion.objects.filter(Q(state=SuggestionState.QUEUED) | lost()).exclude(grader=SCRIPTED)
    rows = rows.filter(grader__contains=":") if lane == FAMILIES else rows.exclude(grader__contains=":")
    return rows.select_related("scheme_version", "version__submission__problem__version").order_by("created_at", "pk")


def suggestions_work(lane: str = QUICK) -> None:
    """Answer the waiting suggestions of a lane; the body of the task.

    Returns at once if this process already uses the full width of the lane. The last check finds a row that is queued while
    the loop ends.
    """
    while waiting(lane).exists():
        if not _AT_WORK[lane].acquire(blocking=False):
            return
        try:
            if not _answer_in_turn(lane):
                return
        finally:
            _AT_WORK[lane].release()


def _answer_in_turn(lane: str) -> bool:
    """Answer rows until none is waiting; False if this process is ending."""
    while (row := waiting(lane).first()) is not None:
        try:
            grader = grader_of(row.grader, row.version.submission.problem.version, _scheme(row))
        except GraderUnknown as unknown:
            _close(row, SuggestionState.FAILED, reason=str(unknown))
            continue
        except Exception:
            logger.exception("grader %s", row.grader)
            _close(row, SuggestionState.FAILED, reason="The grader could not be prepared; the server log has the error.")
            continue
        try:
            row_answer(row, grader)
        except GraderStopped:
            return False
    return True


def row_answer(row: Suggestion, grader: Grader) -> Suggestion:
    """Let the grader answer, unless the row is done or another worker is on it. Raises `GraderStopped`."""
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
        _close(row, SuggestionState.FAILED, reason="The grader failed; the server log has the error.")
    else:
        _close(row, SuggestionState.DONE, body=body)


def _close(row: Suggestion, state: SuggestionState, *, reason: str = "", body: SuggestionBody | None = None) -> None:
    mine = Suggestion.objects.filter(pk=row.pk, state__in=(SuggestionState.QUEUED, SuggestionState.RUNNING))
    kept = body.model_dump(mode="json") if body else {}
    mine.update(state=state, reason=reason[:500], body=kept, done_at=timezone.now(), lease_until=None)


@contextmanager
def held(pk: int) -> Iterator[None]:
    """Renew the lease of a row while its grader works, for as long as that takes."""
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
    """Extend the lease of a row. A short database outage does not lose the lease."""
    try:
        Suggestion.objects.filter(pk=pk, state=SuggestionState.RUNNING).update(lease_until=timezone.now() + LOST_AFTER)
    except DatabaseError as error:
        logger.warning("could not renew the lease of a suggestion: %s", error)


def body_checked(body: SuggestionBody, version: SubmissionVersion, scheme_version: SchemeVersion | None) -> SuggestionBody:
    """The body, after checking that its steps, items and quotes exist. Raises `SuggestionWrong`."""
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
