"""Claim the next script: each script goes to one marker per slot, in an order of the marker's own.

1. A marker continues with the script they hold. Calibration scripts and due re-marks (`calibration`) come before others.
2. A free script is skipped if the marker
   - already has a part in its case, or was shown anything about it, such as a colleague's question;
   - answered a question about it that a marker of another slot asked;
   - wrote it, handed it on because they know its author, or opened the identity of its paper;
   - must not mark its author: a declared conflict with a school or a group (`team.conflicts`).
   A fresh mark also excludes coaches who saw anything of the text before marking. If the script ever had a grade, it excludes
   the captain and organisers as well, who could have read that grade.
3. A script whose free slots are all assigned to others is skipped, unless any free marker may take it (`team.assigning`).
   Scripts assigned to the marker come first.
4. Scripts that the marker skipped come last; before them come scripts that another marker left with a draft.
5. Cases are in `CLAIM_PARTS` parts by their keys. Each claim looks at another part first, and takes the least by a hash of the
   setup's seed, the marker and the case. The order differs between markers and does not reveal order of arrival or names.

`free` has points 2 to 5.
"""

from django.db import transaction
from django.db.models import Case, F, QuerySet, Value, When
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.leases import LEASE, drafts_archive, lease_prioritise
from apps.marks.models import CLAIMED, MarkingTask, Pass, PassReason
from apps.marks.sealing.calibration import gate_refusal, task_ahead
from apps.marks.workspace.free import Standing, free_take, standing_locked

QUESTIONS = (PassReason.APPROACH, PassReason.UNSURE, PassReason.STATEMENT)


@transaction.atomic
def task_next(problem: ContestProblem, user: User, *, after: MarkingTask | None = None) -> MarkingTask | None:
    """Claim a script of a problem, or continue with the one in hand; None if there is none for this marker.

    `after`: a task in hand that is ignored, for fetching the next one ahead.
    """
    standing = standing_locked(problem, user)
    held = _begun(problem, user, after) if standing.has_work else None
    if held is None and not gate_refusal(problem, user):
        held = _claim_free(problem, user, standing)
    if after is not None:
        held = None if held == after.pk else held
        lease_prioritise(after, user)
    return MarkingTask.objects.get(pk=held) if held is not None else None


@transaction.atomic
def task_of_case(problem: ContestProblem, user: User, case: int) -> MarkingTask | None:
    """Claim one script by its case, ignoring the order; None if it is not free for this marker."""
    standing = standing_locked(problem, user)
    own = MarkingTask.objects.filter(case=case, case__problem=problem, assignee=user, done_at=None, slot__in=CLAIMED)
    key = own.values_list("pk", flat=True).first()
    if key is None and not gate_refusal(problem, user):
        key = _claim_free(problem, user, standing, case)
    return MarkingTask.objects.select_related("case").get(pk=key) if key is not None else None


def questions_open() -> QuerySet[Pass]:
    """Questions to captains without an answer."""
    return Pass.objects.filter(reason__in=QUESTIONS, answered_at=None)


def _begun(problem: ContestProblem, user: User, after: MarkingTask | None) -> int | None:
    """A script in hand, or one that comes before free scripts."""
    in_hand = list(MarkingTask.objects.filter(case__problem=problem, assignee=user, done_at=None).values_list("pk", "case"))
    return _held(user, after, in_hand) or task_ahead(problem, user, {case for _, case in in_hand})


def _held(user: User, after: MarkingTask | None, in_hand: list[tuple[int, int]]) -> int | None:
    """The task that the marker holds, its lease renewed. Excludes tasks with an open question to the captain."""
    keys = [key for key, _ in in_hand if after is None or key != after.pk]
    if not keys:
        return None
    mine = MarkingTask.objects.filter(pk__in=keys).exclude(pk__in=questions_open().filter(person=user).values("task"))
    for key in mine.order_by(F("lease_until").desc(nulls_last=True), "pk").values_list("pk", flat=True):
        held = MarkingTask.objects.filter(pk=key, assignee=user, done_at=None)
        until = timezone.now() + LEASE
        # A longer lease, granted after the captain's answer, is kept when the task is fetched ahead.
        kept = Case(When(lease_until__gt=until, then=F("lease_until")), default=Value(until))
        if held.update(lease_until=kept):
            return key
    return None


def _claim_free(problem: ContestProblem, user: User, standing: Standing, case: int = 0) -> int | None:
    taken = free_take(problem, user, timezone.now(), standing, case)
    if taken is None:
        return None
    key, is_begun = taken
    if is_begun:
        drafts_archive(key, to=user)
    return key
