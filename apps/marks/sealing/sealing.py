"""Sealing freezes a judgement with its points, items and verdicts. After the grace time its case is settled.

    draft → sealed     permanent; the marker may reopen it within 30 s, before anything is shown
    case open → …      the result of `comparing` once the grace time of its marks is over

`cases_settle` performs due transitions; code that reads results or claims scripts calls it first. Changes to a sealed mark
after a reveal are in `revising`.
"""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest
from apps.contests.opening import openings
from apps.marks.audit import audit
from apps.marks.coordination.comparing import COUNTED, case_compare
from apps.marks.leases import LEASE, lease_renew
from apps.marks.models import (
    CaseState,
    EarlyReveal,
    Mark,
    MarkingCase,
    MarkingTask,
    MarkItem,
    MarkState,
    Phrase,
    Reveal,
    RevealKind,
    Slot,
    Verdict,
)
from apps.marks.sheets import GRACE, grace_until, judged
from apps.marks.suggestions.suggesting import suggestions_ask
from apps.marks.workspace.drafts import draft_of
from apps.reasoning.marking.schemes.scheme import points_text
from apps.reasoning.marking.sheets.commands import sheet_json
from apps.reasoning.marking.sheets.sealing import sheet_points
from apps.reasoning.marking.sheets.sheet import WORDS_LENGTH, MarkSheet
from apps.schemes.services import VersionNotOpen, version_use

NO_VERSION = "The marking scheme has no active version, so nothing was sealed. Your draft is kept until one is activated."


class NotReady(Exception):
    """The mark cannot be sealed or reopened; `needs` lists the reasons as sentences."""

    def __init__(self, *needs: str) -> None:
        super().__init__(" ".join(needs))
        self.needs = list(needs)


@transaction.atomic
def mark_seal(*, task: MarkingTask, user: User, row_version: int, active_seconds: float) -> Mark:
    """Seal the marker's draft. Sealing again has no effect.

    Raises `TaskGone`, and `NotReady` if something is missing, the marker has not seen this version of the sheet, or the scheme
    has changed its meaning since.
    """
    done = Mark.objects.filter(task=task, marker=user).exclude(state=MarkState.DRAFT).first()
    if done is not None:
        return done
    lease_renew(task, user)
    mark = draft_of(task, user)
    if mark.row_version != row_version:
        raise NotReady("Nothing was sealed: the sheet was changed in another window. Check it, then seal again.")
    found = judged(mark)
    if found.missing:
        raise NotReady(*found.missing)
    _scheme_use(mark)
    worth = sheet_points(found.sheet, found.scheme, found.step)
    now = timezone.now()
    changes = {
        "state": MarkState.SEALED,
        "sealed_sheet": sheet_json(found.sheet),
        "points": worth.points,
        "sealed_points": worth.points,
        "sealed_at": now,
        "row_version": row_version + 1,
        "active_seconds": max(mark.active_seconds, active_seconds),
        "order_index": _order_index(mark),
        "is_assisted": saw_more(task.case, user),
    }
    if not Mark.objects.filter(pk=mark.pk, row_version=row_version, state=MarkState.DRAFT).update(**changes):
        raise NotReady("Nothing was sealed: the sheet was changed in another window. Check it, then seal again.")
    for name, value in changes.items():
        setattr(mark, name, value)
    _rows_write(mark, found.sheet)
    MarkingTask.objects.filter(pk=task.pk, assignee=user).update(done_at=now, lease_until=None)
    _record_event("mark.sealed", mark, user, derivation=worth.derivation)
    if task.slot in (*COUNTED, Slot.APPEAL):
        suggestions_ask(task.case, mark.scheme_version)
    return mark


@transaction.atomic
def mark_unseal(*, task: MarkingTask, user: User) -> Mark:
    """Reopen a mark that was just sealed. Raises `NotReady` after the grace time or once anything was shown."""
    # Lock the case before the mark, as `case_compare` does. `no_key` lets other rows still refer to the case meanwhile.
    MarkingCase.objects.select_for_update(no_key=True).get(pk=task.case_id)
    mark = Mark.objects.select_for_update().filter(task=task, marker=user).first()
    until = grace_until(mark) if mark else None
    if mark is None or mark.state != MarkState.SEALED or until is None:
        raise NotReady("There is no sealed mark to reopen.")
    if timezone.now() > until or is_final(mark):
        raise NotReady("A mark can be reopened only within 30 seconds and before anything is shown.")
    mark.items.all().delete()
    mark.verdicts.all().delete()
    mark.state, mark.sealed_sheet, mark.sealed_points, mark.points, mark.sealed_at = MarkState.DRAFT, None, None, None, None
    mark.row_version += 1
    mark.save()
    MarkingTask.objects.filter(pk=task.pk).update(done_at=None, lease_until=timezone.now() + LEASE)
    _record_event("mark.opened", mark, user)
    return mark


def is_final(mark: Mark) -> bool:
    """Whether a sealed mark can no longer be reopened: time is over, something was shown, or its case has changed state."""
    until = grace_until(mark)
    if until is None:
        return False
    case = mark.task.case
    was_shown = Reveal.objects.filter(case=case, person=mark.marker_id).exists()
    has_moved = mark.task.slot in COUNTED and case.state != CaseState.OPEN
    return timezone.now() > until or was_shown or has_moved


def saw_more(case: MarkingCase, user: User) -> bool:
    """Whether the user was shown the author of a text, or statements by others or a model about it, before or during marking.

    Precedents do not count.
    """
    shown = Reveal.objects.filter(case=case, person=user).exclude(kind=RevealKind.PRECEDENTS)
    early = EarlyReveal.objects.filter(submission__versions=case.version_id, person=user)
    opened = openings().filter(paper__submissions__versions=case.version_id, by=user)
    return shown.exists() or early.exists() or opened.exists()


def cases_settle(contest: Contest) -> int:
    """Compare cases whose marks are all sealed and past the grace time; returns how many changed state."""
    return sum(case_compare(case) is not CaseState.OPEN for case in _due(contest, timezone.now()))


def _due(contest: Contest, now: datetime) -> QuerySet[MarkingCase]:
    tasks = MarkingTask.objects.filter(case=OuterRef("pk"), slot__in=COUNTED)
    waiting = tasks.filter(Q(done_at=None) | Q(mark__sealed_at__gt=now - GRACE))
    cases = MarkingCase.objects.filter(problem__contest=contest, state=CaseState.OPEN)
    return cases.filter(~Exists(waiting), Exists(tasks))


def _scheme_use(mark: Mark) -> None:
    """Register the use of the scheme version. Raises `NotReady` if it is not active."""
    if mark.scheme_version is None:
        if mark.task.case.problem.setup.scheme is not None:
            raise NotReady(NO_VERSION)
        return
    try:
        version_use(version=mark.scheme_version)
    except VersionNotOpen as error:
        raise NotReady(NO_VERSION) from error


def _rows_write(mark: Mark, sheet: MarkSheet) -> None:
    """Store items and verdicts of a sealed sheet as rows, and its comments as reusable phrases."""
    if mark.scheme_version is not None:
        items = mark.scheme_version.items.filter(code__in=sheet.ticks)
        MarkItem.objects.bulk_create(MarkItem(mark=mark, item=item) for item in items)
    Verdict.objects.bulk_create(
        Verdict(
            mark=mark,
            key=one.id,
            step=one.step,
            fallacy=one.fallacy.value,
            role=one.role.value,
            root_key=one.root,
            words=one.words,
            anchor=one.anchor.model_dump() if one.anchor else None,
            region=one.region.model_dump() if one.region else None,
        )
        for one in sheet.verdicts
    )
    for comment in sheet.comments:
        if comment.audience == "student" and len(comment.words) <= WORDS_LENGTH:
            problem = mark.task.case.problem
            phrase, _ = Phrase.objects.get_or_create(problem=problem, author=mark.marker, words=comment.words)
            Phrase.objects.filter(pk=phrase.pk).update(uses=F("uses") + 1)


def _order_index(mark: Mark) -> int:
    sealed = Mark.objects.filter(task__case__problem=mark.task.case.problem_id, marker=mark.marker_id)
    return sealed.filter(sealed_at__isnull=False).count() + 1


def _record_event(verb: str, mark: Mark, user: User, **body: Any) -> None:
    version = str(mark.scheme_version.public_id) if mark.scheme_version else None
    points = points_text(mark.points) if mark.points is not None else None
    body |= {"row_version": mark.row_version, "points": points, "scheme_version": version, "sealed_mark": str(mark.public_id)}
    # The id only, no foreign key: a reopened mark is a draft again and may be deleted when a colleague takes the script.
    audit(verb, actor=user, case=mark.task.case, **body)
