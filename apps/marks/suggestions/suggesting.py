"""Suggestions: requested once per question, made in the background after sealing, stale once text or meaning changes.

A suggestion is a row separate from marks and grades. `revealing` decides what a user sees of it and when; `answering` produces
it.
"""

import logging
from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.marks.graders import Grader
from apps.marks.graders.families import GraderUnknown, grader_of, label_of
from apps.marks.graders.scripted import ScriptedGrader
from apps.marks.models import Mark, MarkingCase, Suggestion, SuggestionState
from apps.marks.queues import suggest
from apps.marks.suggestions.answering import FAMILIES, LOST_AFTER, QUICK, WIDTH, body_checked, lost, row_answer, waiting
from apps.reasoning.marking.suggestion import SuggestionBody, suggestion_key
from apps.schemes.models import SchemeVersion
from apps.submissions.models import SubmissionVersion

__all__ = ["LOST_AFTER", "label_of"]

logger = logging.getLogger(__name__)
WAITING = (SuggestionState.QUEUED, SuggestionState.RUNNING)
#: After this time, the task of a queued row counts as lost with the broker and is sent again.
OVERDUE_AFTER = timedelta(minutes=2)


def graders_for(case: MarkingCase, scheme_version: SchemeVersion | None) -> list[Grader]:
    """The graders for a problem: those of its setup, else those of the settings.

    An unavailable grader is skipped and logged, so that sealing never waits for a grader.
    """
    chosen = case.problem.setup.graders
    stated = case.version.submission.problem.version
    scheme = scheme_version.content if scheme_version else None
    found = []
    for name in settings.MARKING_GRADERS if chosen is None else chosen:
        try:
            found.append(grader_of(name, stated, scheme))
        except GraderUnknown as unknown:
            logger.warning("problem %s: %s", case.problem.public_id, unknown)
        except Exception:
            logger.exception("grader %s", name)
    return found


@transaction.atomic
def suggestions_ask(case: MarkingCase, scheme_version: SchemeVersion | None) -> None:
    """Request a suggestion from every grader, once per question; rows of an older text or meaning become stale.

    Call it in the transaction that seals the mark: work starts after the commit. Failed suggestions are requested again.
    """
    rows = [_row_of(case, scheme_version, one) for one in graders_for(case, scheme_version)]
    again = [row.pk for row in rows if row.state == SuggestionState.FAILED]
    Suggestion.objects.filter(pk__in=again).update(state=SuggestionState.QUEUED)
    for lane in {_lane(row) for row in rows if row.state in (SuggestionState.QUEUED, SuggestionState.FAILED)}:
        suggestions_send(lane)


def suggestions_send(lane: str) -> None:
    """Send the task after the commit. Without a broker, the suggestion is delayed until the next resend."""
    transaction.on_commit(lambda: suggest.apply_async((lane,), retry=False), robust=True)


def suggestions_resend() -> int:
    """Send tasks again for overdue and lost rows, up to the width of each lane; returns their number."""
    sent = 0
    for lane, width in WIDTH.items():
        for _ in waiting(lane).filter(_overdue() | lost())[:width]:
            suggestions_send(lane)
            sent += 1
    return sent


def suggestions_make(case: MarkingCase, scheme_version: SchemeVersion | None, graders: Iterable[Grader]) -> list[Suggestion]:
    """Ask these graders and wait for their answers. Existing answers are reused."""
    rows = [(_row_of(case, scheme_version, grader), grader) for grader in graders]
    return [row_answer(row, grader) for row, grader in rows]


def authored_keep(case: MarkingCase, scheme_version: SchemeVersion, body: SuggestionBody) -> Suggestion:
    """Store an authored suggestion under the scripted grader. Raises `SuggestionWrong`."""
    body_checked(body, case.version, scheme_version)
    return suggestions_make(case, scheme_version, [ScriptedGrader({case.version.digest: body})])[0]


def suggestions_of(mark: Mark) -> QuerySet[Suggestion]:
    """Suggestions that may be shown for a mark: same text, and same or no meaning of the scheme."""
    return _fitting(mark).filter(state=SuggestionState.DONE)


def suggestions_failed(mark: Mark) -> QuerySet[Suggestion]:
    """Failed suggestions for a mark; `reason` explains each."""
    return _fitting(mark).filter(state=SuggestionState.FAILED)


def suggestions_wait(mark: Mark) -> bool:
    """Whether a suggestion for this script is still in progress; lost ones are requested again."""
    rows = Suggestion.objects.filter(version=mark.task.case.version, state__in=WAITING)
    for lane in {_lane(row) for row in rows.filter(_overdue() | lost())}:
        suggestions_send(lane)
    return rows.exists()


def body_of(suggestion: Suggestion) -> SuggestionBody:
    """The grader's answer."""
    return SuggestionBody.model_validate(suggestion.body)


def _fitting(mark: Mark) -> QuerySet[Suggestion]:
    meaning = mark.scheme_version.meaning_hash if mark.scheme_version else None
    fits = Q(scheme_version=None)
    if meaning is not None:
        fits |= Q(scheme_version__meaning_hash=meaning)
    return Suggestion.objects.filter(fits, version=mark.task.case.version).order_by("grader", "pk")


def _overdue() -> Q:
    return Q(state=SuggestionState.QUEUED, created_at__lt=timezone.now() - OVERDUE_AFTER)


def _lane(row: Suggestion) -> str:
    return FAMILIES if ":" in row.grader else QUICK


def _row_of(case: MarkingCase, scheme_version: SchemeVersion | None, grader: Grader) -> Suggestion:
    """The row of this question, created if needed. Marks its rows for older texts or meanings as stale."""
    scheme = scheme_version if grader.needs_scheme else None
    meaning = scheme.meaning_hash if scheme else ""
    key = suggestion_key(f"{case.version.pk}/{case.version.digest}", meaning, grader.name, grader.revision)
    values = {"version": case.version, "scheme_version": scheme, "grader": grader.name}
    row, _ = Suggestion.objects.get_or_create(key=key, defaults=values)
    texts = SubmissionVersion.objects.filter(submission=case.version.submission_id, number__lte=case.version.number)
    others = Suggestion.objects.filter(version__in=texts, grader=grader.name).exclude(pk=row.pk)
    others.update(state=SuggestionState.STALE)
    if row.state == SuggestionState.STALE:
        row.state = SuggestionState.DONE if row.body else SuggestionState.QUEUED
        row.save(update_fields=["state"])
    return row
