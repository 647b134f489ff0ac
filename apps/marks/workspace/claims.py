"""Claim the next script: each script goes to one marker per slot, in an order of the marker's own.

1. A marker continues with the script they hold. Calibration scripts and due re-marks (`calibration`) come before others.
2. A free script is skipped if the marker
   - already has a part in its case, or was shown anything about it, such as a colleague's question;
   - answered a question about it that a marker of another slot asked;
   - wrote it, handed it on because they know its author, or opened the identity of its paper.
   A fresh mark also excludes coaches who saw anything of the text before marking. If the script ever had a grade, it excludes
   the captain and organisers as well, who could have read that grade.
3. Scripts that the marker skipped come last; before them come scripts that another marker left with a draft.
4. The order is a hash of the setup's seed, the marker and the case. It is stable, differs between markers, and does not
   reveal order of arrival or names.
"""

from datetime import datetime
from hashlib import blake2b

from django.db import IntegrityError, connection, transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.access import paper_own
from apps.contests.models import ContestCoach, ContestProblem
from apps.contests.opening import openings
from apps.marks.access import captain_is
from apps.marks.leases import LEASE, drafts_archive, is_free, lease_prioritise
from apps.marks.models import EarlyReveal, FinalGrade, MarkingSetup, MarkingTask, Pass, PassReason, Reveal, RevealKind, Slot
from apps.marks.sealing.calibration import gate_refusal, task_ahead

CLAIMED = (Slot.FIRST, Slot.SECOND, Slot.THIRD, Slot.AGAIN)
QUESTIONS = (PassReason.APPROACH, PassReason.UNSURE, PassReason.STATEMENT)


@transaction.atomic
def task_next(problem: ContestProblem, user: User, *, after: MarkingTask | None = None) -> MarkingTask | None:
    """Claim a script of a problem, or continue with the one in hand; None if there is none for this marker.

    `after`: a task in hand that is ignored, for fetching the next one ahead.
    """
    # Serialise one marker's claims from several windows.
    ContestCoach.objects.select_for_update().filter(contest=problem.contest_id, person=user).first()
    held = _held(problem, user, after) or task_ahead(problem, user)
    if held is None and not gate_refusal(problem, user):
        held = _claim_free(problem, user)
    if after is not None:
        held = None if held == after.pk else held
        lease_prioritise(after, user)
    return MarkingTask.objects.select_related("case").get(pk=held) if held is not None else None


@transaction.atomic
def task_of_case(problem: ContestProblem, user: User, case: int) -> MarkingTask | None:
    """Claim one script by its case, ignoring the order; None if it is not free for this marker."""
    ContestCoach.objects.select_for_update().filter(contest=problem.contest_id, person=user).first()
    now = timezone.now()
    own = MarkingTask.objects.filter(case=case, case__problem=problem, assignee=user, done_at=None, slot__in=CLAIMED)
    keys = list(own.values_list("pk", flat=True)[:1])
    if not keys and not gate_refusal(problem, user):
        keys = [key for key in _in_order(problem, user, now, case) if _assign(key, user, now)][:1]
        for key in keys:
            drafts_archive(key, to=user)
    return MarkingTask.objects.select_related("case").get(pk=keys[0]) if keys else None


def order_key(setup: MarkingSetup, user: User, case: int) -> bytes:
    """Sort key of a case in the order of a marker."""
    return blake2b(f"{setup.seed}:{user.pk}:{case}".encode(), digest_size=8).digest()


def questions_open() -> QuerySet[Pass]:
    """Questions to captains without an answer."""
    return Pass.objects.filter(reason__in=QUESTIONS, answered_at=None)


def _held(problem: ContestProblem, user: User, after: MarkingTask | None) -> int | None:
    """The task that the marker holds, its lease renewed. Excludes tasks with an open question to the captain."""
    mine = MarkingTask.objects.filter(case__problem=problem, assignee=user, done_at=None)
    mine = mine.exclude(pk__in=questions_open().filter(person=user).values("task"))
    if after is not None:
        mine = mine.exclude(pk=after.pk)
    for key in mine.order_by(F("lease_until").desc(nulls_last=True), "pk").values_list("pk", flat=True):
        held = MarkingTask.objects.filter(pk=key, assignee=user, done_at=None)
        until = timezone.now() + LEASE
        # A longer lease, granted after the captain's answer, is kept when the task is fetched ahead.
        kept = Case(When(lease_until__gt=until, then=F("lease_until")), default=Value(until))
        if held.update(lease_until=kept):
            return key
    return None


def _claim_free(problem: ContestProblem, user: User) -> int | None:
    now = timezone.now()
    for key in _in_order(problem, user, now):
        if _assign(key, user, now):
            drafts_archive(key, to=user)
            return key
    return None


def _in_order(problem: ContestProblem, user: User, now: datetime, case: int | None = None) -> list[int]:
    """Keys of the free tasks, optionally of one case, in the marker's order."""
    setup = problem.setup
    part = MarkingTask.objects.filter(case__problem=problem, assignee=user)
    passes = Pass.objects.filter(person=user, task__case__problem=problem)
    known = passes.filter(reason=PassReason.CONFLICT)
    free = MarkingTask.objects.filter(is_free(now), case__problem=problem, slot__in=CLAIMED)
    if case is not None:
        free = free.filter(case=case)
    # Under a changed scheme any marker may mark a script again, including those who marked it before.
    free = free.exclude(~Q(slot=Slot.AGAIN) & Q(case__in=part.values("case"))).exclude(case__in=known.values("task__case"))
    seen = Reveal.objects.filter(person=user, case__problem=problem).exclude(kind=RevealKind.PRECEDENTS)
    free = free.exclude(~Q(slot=Slot.AGAIN) & Q(case__in=seen.values("case")))
    ruled = Pass.objects.filter(answered_by=user, task__case__problem=problem)
    free = free.exclude(~Q(slot=Slot.AGAIN) & Q(case__in=ruled.values("task__case")) & ~Q(pk__in=ruled.values("task")))
    early = EarlyReveal.objects.filter(person=user, submission__problem=problem).values("submission")
    free = free.exclude(slot=Slot.THIRD, case__version__submission__in=early)
    if captain_is(user, problem):
        free = free.exclude(slot=Slot.THIRD, case__in=FinalGrade.objects.filter(case__problem=problem).values("case"))
    free = free.exclude(case__version__submission__paper__in=openings().filter(by=user).values("paper"))
    paper = paper_own(user, problem.contest)
    if paper is not None:
        free = free.exclude(case__version__submission__paper=paper)
    put_off = set(passes.filter(reason=PassReason.SKIP).values_list("task__case", flat=True))
    rows = free.values_list("pk", "case_id", "mark__row_version", "mark__marker_id")
    keyed = [
        ((of in put_off, bool(changes) and marker != user.pk, order_key(setup, user, of), key), key)
        for key, of, changes, marker in rows
    ]
    return [key for _, key in sorted(keyed)]


def _assign(key: int, user: User, now: datetime) -> bool:
    """Assign a free task to this marker; False if another marker was faster. One conditional update on either database."""
    task = MarkingTask.objects.filter(is_free(now), pk=key)
    try:
        with transaction.atomic():
            if connection.features.has_select_for_update_skip_locked and not list(
                MarkingTask.objects.select_for_update(skip_locked=True).filter(is_free(now), pk=key).values_list("pk")
            ):
                return False
            return task.update(assignee=user, lease_until=now + LEASE) == 1
    except IntegrityError:
        return False
