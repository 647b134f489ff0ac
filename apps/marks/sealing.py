"""Sealing: a judgement is frozen with its points, its items and its verdicts, and after the grace time its case is settled.

    draft → sealed     for ever; within 30 s and before anything was shown its marker may open it again
    case open → …      what `comparing` makes of its marks when their grace time is over

`cases_settle` does what is due of the second; whatever reads results or claims scripts calls it first. What becomes of a sealed
mark when its marker saw more is `revising`'s.
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
from apps.marks.comparing import COUNTED, case_compare
from apps.marks.drafts import draft_of
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
from apps.marks.suggesting import suggestions_ask
from apps.reasoning.marking.commands import sheet_json
from apps.reasoning.marking.scheme import points_text
from apps.reasoning.marking.sealing import sheet_points
from apps.reasoning.marking.sheet import WORDS_LENGTH, MarkSheet
from apps.schemes.services import VersionNotOpen, version_use

NO_VERSION = "The marking scheme has no active version. What you began is kept until its captain makes one active."


class NotReady(Exception):
    """The mark cannot be sealed, or opened again; `needs` says in sentences what is missing or why."""

    def __init__(self, *needs: str) -> None:
        super().__init__(" ".join(needs))
        self.needs = list(needs)


@transaction.atomic
def mark_seal(*, task: MarkingTask, user: User, row_version: int, active_seconds: float) -> Mark:
    """Seal the marker's draft. Sealing what is sealed changes nothing.

    Raises `TaskGone`, and `NotReady` where something is missing, where the sheet is not the one that the marker has seen, and
    where the scheme has got another meaning since.
    """
    done = Mark.objects.filter(task=task, marker=user).exclude(state=MarkState.DRAFT).first()
    if done is not None:
        return done
    lease_renew(task, user)
    mark = draft_of(task, user)
    if mark.row_version != row_version:
        raise NotReady("The sheet was changed in another window. Look at it again.")
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
        raise NotReady("The sheet was changed in another window. Look at it again.")
    for name, value in changes.items():
        setattr(mark, name, value)
    _rows_write(mark, found.sheet)
    MarkingTask.objects.filter(pk=task.pk, assignee=user).update(done_at=now, lease_until=None)
    _written_down("mark.sealed", mark, user, derivation=worth.derivation)
    if task.slot in (*COUNTED, Slot.APPEAL):
        suggestions_ask(task.case, mark.scheme_version)
    return mark


@transaction.atomic
def mark_unseal(*, task: MarkingTask, user: User) -> Mark:
    """Open a mark again that was sealed a moment ago. Raises `NotReady` after the grace time or once anything was shown."""
    # Locked before the mark, against `case_compare`; rows that only name the case go on being written meanwhile.
    MarkingCase.objects.select_for_update(no_key=True).get(pk=task.case_id)
    mark = Mark.objects.select_for_update().filter(task=task, marker=user).first()
    until = grace_until(mark) if mark else None
    if mark is None or mark.state != MarkState.SEALED or until is None:
        raise NotReady("There is no sealed mark to open.")
    if timezone.now() > until or is_final(mark):
        raise NotReady("A mark can be opened again within 30 seconds, before anything is shown.")
    mark.items.all().delete()
    mark.verdicts.all().delete()
    mark.state, mark.sealed_sheet, mark.sealed_points, mark.points, mark.sealed_at = MarkState.DRAFT, None, None, None, None
    mark.row_version += 1
    mark.save()
    MarkingTask.objects.filter(pk=task.pk).update(done_at=None, lease_until=timezone.now() + LEASE)
    _written_down("mark.opened", mark, user)
    return mark


def is_final(mark: Mark) -> bool:
    """Whether a sealed mark can no longer be opened: its time is over, its marker was shown something, or its case moved on."""
    until = grace_until(mark)
    if until is None:
        return False
    case = mark.task.case
    was_shown = Reveal.objects.filter(case=case, person=mark.marker_id).exists()
    has_moved = mark.task.slot in COUNTED and case.state != CaseState.OPEN
    return timezone.now() > until or was_shown or has_moved


def saw_more(case: MarkingCase, user: User) -> bool:
    """Whether the person was shown who wrote a text, or, in marking or before it, what others or a model made of it.

    Precedents apart.
    """
    shown = Reveal.objects.filter(case=case, person=user).exclude(kind=RevealKind.PRECEDENTS)
    early = EarlyReveal.objects.filter(submission__versions=case.version_id, person=user)
    opened = openings().filter(paper__submissions__versions=case.version_id, by=user)
    return shown.exists() or early.exists() or opened.exists()


def cases_settle(contest: Contest) -> int:
    """Compare the cases of a contest whose marks are all sealed and past their grace time; how many moved on."""
    return sum(case_compare(case) is not CaseState.OPEN for case in _due(contest, timezone.now()))


def _due(contest: Contest, now: datetime) -> QuerySet[MarkingCase]:
    tasks = MarkingTask.objects.filter(case=OuterRef("pk"), slot__in=COUNTED)
    waiting = tasks.filter(Q(done_at=None) | Q(mark__sealed_at__gt=now - GRACE))
    cases = MarkingCase.objects.filter(problem__contest=contest, state=CaseState.OPEN)
    return cases.filter(~Exists(waiting), Exists(tasks))


def _scheme_use(mark: Mark) -> None:
    """Say that a mark is made with its scheme. Raises `NotReady` where no version of it is active."""
    if mark.scheme_version is None:
        if mark.task.case.problem.setup.scheme is not None:
            raise NotReady(NO_VERSION)
        return
    try:
        version_use(version=mark.scheme_version)
    except VersionNotOpen as error:
        raise NotReady(NO_VERSION) from error


def _rows_write(mark: Mark, sheet: MarkSheet) -> None:
    """The items and verdicts of a sealed sheet as rows, and its comments as phrases to use again."""
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


def _written_down(verb: str, mark: Mark, user: User, **body: Any) -> None:
    version = str(mark.scheme_version.public_id) if mark.scheme_version else None
    points = points_text(mark.points) if mark.points is not None else None
    body |= {"row_version": mark.row_version, "points": points, "scheme_version": version, "sealed_mark": str(mark.public_id)}
    # By name only: a mark that was opened again is a draft, and what is left of a draft goes when a colleague takes the script.
    audit(verb, actor=user, case=mark.task.case, **body)
