"""Counts of appeals and hints that wait for a coach, as on their pages, but with queries for all contests at once."""

from collections import Counter
from collections.abc import Iterable, Sequence

from django.db.models import Q
from django.urls import reverse

from apps.accounts.models import User
from apps.contests.models import Contest, ContestCoach, ContestState
from apps.contests.opening import openings
from apps.marks.coordination.comparing import OPEN_APPEALS
from apps.marks.models import (
    Appeal,
    AppealState,
    AuditEvent,
    Coordination,
    FinalGrade,
    MarkingCase,
    MarkingTask,
    PassReason,
    ReleasedGrade,
    Slot,
)
from apps.marks.waiting import Waiting
from apps.marks.workspace.passes import PASSED
from apps.results.access import SEALED, texts_marked
from apps.results.models import RungAsked
from apps.submissions.models import SubmissionVersion


def appeals_waiting(user: User, contests: Sequence[Contest]) -> Iterable[tuple[int, Waiting]]:
    """Appeals that this coach hears or may hear (`appeals.hearing_refusal`), by contest."""
    marked = {contest.pk: contest for contest in contests if contest.state == ContestState.MARKING}
    rows = Appeal.objects.filter(grade__case__problem__contest__in=list(marked), state__in=OPEN_APPEALS)
    open_ = list(rows.values_list("grade__case", "grade__case__problem__contest", "state"))
    if not open_:
        return
    cases = {case for case, _, _ in open_}
    judged, graded, hearings = _judged(user, cases), _graded(user, cases), _hearings(cases)
    coaches = set(ContestCoach.objects.filter(contest__in=list(marked)).values_list("contest", "person"))
    heard = {case for case, _, state in open_ if state == AppealState.HEARD}
    counts: Counter[int] = Counter()
    for case, contest, state in open_:
        task, assignee = hearings.get(case, (None, None))
        own = {task} if assignee == user.pk and state == AppealState.HEARD else set()
        is_heard_by_other = case in heard and assignee != user.pk and (contest, assignee) in coaches
        counts[contest] += not (case in judged or graded.get(case, set()) - own or is_heard_by_other)
    for key, count in counts.items():
        url = reverse("results:appeal_list", args=[marked[key].public_id])
        yield key, Waiting(count, "appeal to answer", "appeals to answer", url)


def hints_waiting(user: User, contests: Sequence[Contest]) -> Iterable[tuple[int, Waiting]]:
    """Rungs that wait for a coach (`feedback.requests_open`), by contest."""
    by_key = {contest.pk: contest for contest in contests}
    rows = RungAsked.objects.filter(given_at=None, request__ended_at=None)
    rows = rows.filter(request__version__submission__paper__contest__in=list(by_key))
    asked = list(
        rows.values_list("request__version", "request__version__submission", "request__version__submission__paper__contest")
    )
    if not asked:
        return
    texts = {text for _, text, _ in asked}
    versions = SubmissionVersion.objects.filter(submission__in=texts, withdrawn_at=None).order_by("number")
    newest = dict(versions.values_list("submission", "pk"))
    released = ReleasedGrade.objects.filter(batch__undone_at=None, grade__case__version__submission__in=texts)
    shown = set(released.values_list("grade__case__version", flat=True))
    for key in dict.fromkeys(contest for _, _, contest in asked):
        contest, own = by_key[key], texts_marked(user, by_key[key])
        awaits = contest.state in (ContestState.MARKING, ContestState.CLOSED)
        here = [(version, text) for version, text, where in asked if where == key and text not in own]
        count = sum(not awaits or {version, newest.get(text, version)} <= shown for version, text in here)
        url = reverse("results:feedback_queue", args=[contest.public_id])
        yield key, Waiting(count, "hint to write", "hints to write", url)


def _hearings(cases: Iterable[int]) -> dict[int, tuple[int, int | None]]:
    """By case, the newest hearing and its coach."""
    tasks = MarkingTask.objects.filter(case__in=list(cases), slot=Slot.APPEAL).order_by("pk")
    return {case: (key, assignee) for case, key, assignee in tasks.values_list("case", "pk", "assignee")}


def _judged(user: User, cases: Iterable[int]) -> set[int]:
    """Those of these cases that the user is marking, judged outside a hearing, or knows the author of."""
    keys = list(cases)
    tasks = MarkingTask.objects.filter(case__in=keys).exclude(slot=Slot.APPEAL)
    marked = tasks.filter(Q(assignee=user, done_at=None) | Q(mark__marker=user, mark__state__in=SEALED))
    settled = Coordination.objects.filter(Q(signatories=user) | Q(marks__marker=user), case__in=keys)
    known = AuditEvent.objects.filter(case__in=keys, actor=user, verb=PASSED, body__reason=PassReason.CONFLICT)
    found = {case for rows in (marked, settled, known) for case in rows.values_list("case", flat=True) if case is not None}
    opened = openings().filter(by=user).values("paper")
    of_known = MarkingCase.objects.filter(pk__in=keys, version__submission__paper__in=opened)
    return found | set(of_known.values_list("pk", flat=True))


def _graded(user: User, cases: Iterable[int]) -> dict[int, set[int | None]]:
    """By case, the tasks of the user's marks that led to a grade."""
    found: dict[int, set[int | None]] = {}
    rows = FinalGrade.objects.filter(case__in=list(cases), mark__marker=user)
    for case, task in rows.values_list("case", "mark__task"):
        found.setdefault(case, set()).add(task)
    return found
