"""Suggestions: asked for once per question, made in the background after a mark was sealed, stale when text or meaning changes.

A suggestion is a row apart from marks and grades; what of it a person meets, and when, `revealing` decides. How they are
answered is in `answering`.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.marks.answering import FAMILIES, LOST_AFTER, QUICK, WIDTH, body_checked, lost, row_answer, waiting
from apps.marks.graders import Grader
from apps.marks.graders.families import GraderUnknown, grader_of, label_of
from apps.marks.graders.scripted import ScriptedGrader
from apps.marks.models import Mark, MarkingCase, Suggestion, SuggestionState
from apps.reasoning.marking.suggestion import SuggestionBody, suggestion_key
from apps.schemes.models import SchemeVersion
from apps.submissions.models import SubmissionVersion

__all__ = ["LOST_AFTER", "label_of"]

logger = logging.getLogger(__name__)
WAITING = (SuggestionState.QUEUED, SuggestionState.RUNNING)
#: A task of a queued row that was lost with the broker is sent again after so long.
UNHEARD_AFTER = timedelta(minutes=2)


def graders_for(case: MarkingCase, scheme_version: SchemeVersion | None) -> list[Grader]:
    """The graders that are asked about a problem: those its setup names, else those of the settings.

    One that cannot be asked is left out and logged: to seal a mark never waits for a grader.
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
def suggestions_ask(case: MarkingCase, scheme_version: SchemeVersion | None, graders: Sequence[Grader] | None = None) -> None:
    """Ask every grader about a script, unless that was done; rows of an older text or another meaning become stale.

    Call it in the transaction that sealed a mark: the work begins when that commits. What failed is asked again.
    """
    rows = [_row_of(case, scheme_version, one) for one in (graders_for(case, scheme_version) if graders is None else graders)]
    again = [row.pk for row in rows if row.state == SuggestionState.FAILED]
    Suggestion.objects.filter(pk__in=again).update(state=SuggestionState.QUEUED)
    for lane in {_lane(row) for row in rows if row.state in (SuggestionState.QUEUED, SuggestionState.FAILED)}:
        suggestions_send(lane)


def suggestions_send(lane: str) -> None:
    """Send the task after commit. A broker that is away costs the suggestion until the next look, and no time."""
    from apps.marks.tasks import suggest

    transaction.on_commit(lambda: suggest.apply_async((lane,), retry=False), robust=True)


def suggestions_resend() -> int:
    """Send tasks for what waits unheard or was lost with its process, as many as are answered at a time; how many."""
    sent = 0
    for lane, width in WIDTH.items():
        for _ in waiting(lane).filter(_unheard() | lost())[:width]:
            suggestions_send(lane)
            sent += 1
    return sent


def suggestions_make(case: MarkingCase, scheme_version: SchemeVersion | None, graders: Iterable[Grader]) -> list[Suggestion]:
    """Ask these graders and wait for what they say. What was answered before is not asked again."""
    rows = [(_row_of(case, scheme_version, grader), grader) for grader in graders]
    return [row_answer(row, grader) for row, grader in rows]


def authored_keep(case: MarkingCase, scheme_version: SchemeVersion, body: SuggestionBody) -> Suggestion:
    """Keep a suggestion that somebody wrote for a script, under the name of the scripted grader. Raises `SuggestionWrong`."""
    body_checked(body, case.version, scheme_version)
    return suggestions_make(case, scheme_version, [ScriptedGrader({case.version.digest: body})])[0]


def suggestions_of(mark: Mark) -> QuerySet[Suggestion]:
    """What may be shown beside a mark: of the same text, and of the same meaning of the scheme or of none."""
    return _beside(mark).filter(state=SuggestionState.DONE)


def suggestions_failed(mark: Mark) -> QuerySet[Suggestion]:
    """Of what might stand beside a mark, that which a grader could not say; its reason tells why."""
    return _beside(mark).filter(state=SuggestionState.FAILED)


def suggestions_wait(mark: Mark) -> bool:
    """Whether something is still being made for this script; what was lost on the way is asked for again."""
    rows = Suggestion.objects.filter(version=mark.task.case.version, state__in=WAITING)
    for lane in {_lane(row) for row in rows.filter(_unheard() | lost())}:
        suggestions_send(lane)
    return rows.exists()


def body_of(suggestion: Suggestion) -> SuggestionBody:
    """What the grader said."""
    return SuggestionBody.model_validate(suggestion.body)


def _beside(mark: Mark) -> QuerySet[Suggestion]:
    meaning = mark.scheme_version.meaning_hash if mark.scheme_version else None
    fits = Q(scheme_version=None)
    if meaning is not None:
        fits |= Q(scheme_version__meaning_hash=meaning)
    return Suggestion.objects.filter(fits, version=mark.task.case.version).order_by("grader", "pk")


def _unheard() -> Q:
    return Q(state=SuggestionState.QUEUED, created_at__lt=timezone.now() - UNHEARD_AFTER)


def _lane(row: Suggestion) -> str:
    return FAMILIES if ":" in row.grader else QUICK


def _row_of(case: MarkingCase, scheme_version: SchemeVersion | None, grader: Grader) -> Suggestion:
    """The row of this question, made where it is not there. Its rows for older texts or other meanings become stale."""
    scheme = scheme_version if grader.needs_scheme else None
    meaning = scheme.meaning_hash if scheme else ""
    key = suggestion_key(f"{case.version.pk}/{case.version.digest}", meaning, grader.name, grader.told)
    values = {"version": case.version, "scheme_version": scheme, "grader": grader.name}
    row, _ = Suggestion.objects.get_or_create(key=key, defaults=values)
    texts = SubmissionVersion.objects.filter(submission=case.version.submission_id, number__lte=case.version.number)
    others = Suggestion.objects.filter(version__in=texts, grader=grader.name).exclude(pk=row.pk)
    others.update(state=SuggestionState.STALE)
    if row.state == SuggestionState.STALE:
        row.state = SuggestionState.DONE if row.body else SuggestionState.QUEUED
        row.save(update_fields=["state"])
    return row
