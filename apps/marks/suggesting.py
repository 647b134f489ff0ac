"""Suggestions: asked for once per question, made in the background after a mark was sealed, stale when text or meaning changes.

A suggestion is a row apart from marks and grades; what of it a person meets, and when, `revealing` decides.
"""

import logging
import threading
from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.marks.graders import Grader, GraderFailed, GraderStep, Question
from apps.marks.graders.computational import COMPUTATIONAL, ComputationalGrader
from apps.marks.graders.scripted import SCRIPTED, ScriptedGrader
from apps.marks.models import Mark, MarkingCase, Suggestion, SuggestionState
from apps.reasoning.marking.suggestion import SuggestionBody, SuggestionWrong, suggestion_checked, suggestion_key
from apps.schemes.models import SchemeVersion
from apps.submissions.models import SubmissionVersion

logger = logging.getLogger(__name__)
_AT_WORK = threading.Lock()

#: A suggestion that was asked for so long ago and is not there was lost on the way; it is asked for again.
LOST_AFTER = timedelta(minutes=2)
WAITING = (SuggestionState.QUEUED, SuggestionState.RUNNING)
_KNOWN: dict[str, type[ComputationalGrader]] = {COMPUTATIONAL: ComputationalGrader}


def graders_on() -> list[Grader]:
    """The graders that the settings turn on."""
    return [_KNOWN[name]() for name in settings.MARKING_GRADERS]


@transaction.atomic
def suggestions_ask(case: MarkingCase, scheme_version: SchemeVersion | None, graders: Sequence[Grader] | None = None) -> None:
    """Ask every grader about a script, unless that was done; rows of another text or meaning become stale.

    Call it in the transaction that sealed a mark: the work begins when that commits.
    """
    rows = [_row_of(case, scheme_version, grader) for grader in (graders_on() if graders is None else graders)]
    if any(row.state in (SuggestionState.QUEUED, SuggestionState.FAILED) for row in rows):
        suggestions_send()


def suggestions_send() -> None:
    """Send the task after commit. A broker that is away costs the suggestion until somebody asks again, and no time."""
    from apps.marks.tasks import suggest

    transaction.on_commit(lambda: suggest.apply_async(retry=False), robust=True)


def suggestions_work() -> None:
    """Answer what waits, one script at a time in this process; the body of the task.

    Who comes while somebody is at work leaves it to them. What is queued in the moment of stopping is seen by the last look.
    """
    while (row := _waiting().first()) is not None:
        if not _AT_WORK.acquire(blocking=False):
            return
        try:
            _answer(row, {grader.name: grader for grader in graders_on()}[row.grader])
        finally:
            _AT_WORK.release()


def suggestions_make(case: MarkingCase, scheme_version: SchemeVersion | None, graders: Iterable[Grader]) -> list[Suggestion]:
    """Ask these graders and wait for what they say. What was answered before is not asked again."""
    rows = [(_row_of(case, scheme_version, grader), grader) for grader in graders]
    return [_answer(row, grader) for row, grader in rows]


def authored_keep(case: MarkingCase, scheme_version: SchemeVersion, body: SuggestionBody) -> Suggestion:
    """Keep a suggestion that somebody wrote for a script, under the name of the scripted grader. Raises `SuggestionWrong`."""
    _checked(body, case.version, scheme_version)
    return suggestions_make(case, scheme_version, [ScriptedGrader({case.version.digest: body})])[0]


def suggestions_of(mark: Mark) -> QuerySet[Suggestion]:
    """What may be shown beside a mark: of the same text, and of the same meaning of the scheme or of none."""
    meaning = mark.scheme_version.meaning_hash if mark.scheme_version else None
    fits = Q(scheme_version=None)
    if meaning is not None:
        fits |= Q(scheme_version__meaning_hash=meaning)
    rows = Suggestion.objects.filter(fits, version=mark.task.case.version, state=SuggestionState.DONE)
    return rows.order_by("grader", "pk")


def suggestions_wait(mark: Mark) -> bool:
    """Whether something is still being made for this script; what was lost on the way is asked for again."""
    rows = Suggestion.objects.filter(version=mark.task.case.version, state__in=WAITING)
    unheard = Q(state=SuggestionState.QUEUED, created_at__lt=timezone.now() - LOST_AFTER)
    if rows.filter(unheard | _lost()).exists():
        suggestions_send()
    return rows.exists()


def body_of(suggestion: Suggestion) -> SuggestionBody:
    """What the grader said."""
    return SuggestionBody.model_validate(suggestion.body)


def label_of(grader: str) -> str:
    """How pages name a grader."""
    labels = {name: make().label for name, make in _KNOWN.items()} | {SCRIPTED: ScriptedGrader({}).label}
    return labels.get(grader, grader)


def _waiting() -> QuerySet[Suggestion]:
    """What no process has begun, or what was lost on the way, oldest first."""
    rows = Suggestion.objects.filter(Q(state=SuggestionState.QUEUED) | _lost(), grader__in=[one.name for one in graders_on()])
    return rows.select_related("scheme_version").order_by("created_at", "pk")


def _lost() -> Q:
    """What somebody began so long ago that they must have died."""
    return Q(state=SuggestionState.RUNNING, started_at__lt=timezone.now() - LOST_AFTER)


def _row_of(case: MarkingCase, scheme_version: SchemeVersion | None, grader: Grader) -> Suggestion:
    """The row of this question, made where it is not there. The grader's rows for other texts or meanings become stale."""
    scheme = scheme_version if grader.needs_scheme else None
    meaning = scheme.meaning_hash if scheme else ""
    key = suggestion_key(f"{case.version.pk}/{case.version.digest}", meaning, grader.name, grader.told)
    values = {"version": case.version, "scheme_version": scheme, "grader": grader.name}
    row, _ = Suggestion.objects.get_or_create(key=key, defaults=values)
    others = Suggestion.objects.filter(version__submission=case.version.submission, grader=grader.name).exclude(pk=row.pk)
    others.update(state=SuggestionState.STALE)
    if row.state == SuggestionState.STALE:
        row.state = SuggestionState.DONE if row.body else SuggestionState.QUEUED
        row.save(update_fields=["state"])
    return row


def _answer(row: Suggestion, grader: Grader) -> Suggestion:
    """Let the grader answer, unless it did or somebody else is waiting for it to."""
    is_free = Q(state__in=(SuggestionState.QUEUED, SuggestionState.FAILED)) | _lost()
    now = timezone.now()
    if Suggestion.objects.filter(is_free, pk=row.pk).update(state=SuggestionState.RUNNING, started_at=now):
        state, reason, body = SuggestionState.DONE, "", SuggestionBody()
        try:
            body = _checked(grader.answer(_question(row)), row.version, row.scheme_version)
        except (GraderFailed, SuggestionWrong) as error:
            logger.warning("suggestion %s by %s failed: %s", row.public_id, grader.name, error)
            state, reason = SuggestionState.FAILED, str(error)[:500]
        except Exception:
            logger.exception("suggestion %s by %s", row.public_id, grader.name)
            state, reason = SuggestionState.FAILED, "The grader broke off."
        kept = body.model_dump(mode="json") if state == SuggestionState.DONE else {}
        mine = Suggestion.objects.filter(pk=row.pk, state=SuggestionState.RUNNING)
        mine.update(state=state, reason=reason, body=kept, done_at=timezone.now())
    row.refresh_from_db()
    return row


def _checked(body: SuggestionBody, version: SubmissionVersion, scheme_version: SchemeVersion | None) -> SuggestionBody:
    steps = frozenset(version.steps.values_list("number", flat=True))
    content = scheme_version.content if scheme_version else None
    codes = [item.code for item in content.items] if content else []
    return suggestion_checked(body, version.source, steps, codes, content.scale if content else None)


def _question(row: Suggestion) -> Question:
    version = row.version
    steps = tuple(GraderStep(step.number, step.start, step.end) for step in version.steps.all())
    scheme = row.scheme_version.content if row.scheme_version else None
    return Question(version.digest, version.source, steps, version.submission.problem.version.statement, scheme)
