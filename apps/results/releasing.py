"""Release results: readiness, one batch for the whole contest, and taking a batch back for a limited time.

A batch fixes for every text the grade that it shows. Students see nothing before it, and later grades only with a later batch.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import Contest, ContestProblem, ContestState, Identity
from apps.marks.audit import audit
from apps.marks.blindness import problems_shut
from apps.marks.coordination.comparing import COUNTED, OPEN_APPEALS, states_settled
from apps.marks.models import Appeal, CaseState, FinalGrade, MarkingCase, MarkingTask, ReleaseBatch, ReleasedGrade, ReleasePart
from apps.marks.sealing.sealing import cases_settle
from apps.results.models import Notice
from apps.results.ranking import ranking_of, ranking_withdraw
from apps.results.shown import batches_active, grades_shown, parts_released
from apps.submissions.selectors import versions_to_mark

SETTLED = (CaseState.SETTLED, CaseState.RELEASED, CaseState.APPEALED)


class ReleaseRefused(Exception):
    """Results cannot be released or taken back; the message gives the reason."""


@dataclass(frozen=True)
class Ready:
    """One problem: texts to mark, texts with a releasable grade, and texts with a grade that students have not seen."""

    problem: ContestProblem
    texts: int
    settled: int
    news: int

    @property
    def missing(self) -> int:
        return self.texts - self.settled


@dataclass(frozen=True)
class Readiness:
    """The content of a batch released now. `parts`: parts released before; a batch without one leaves it unchanged."""

    rows: list[Ready]
    grades: list[FinalGrade]
    parts: set[str]

    @property
    def missing(self) -> int:
        return sum(row.missing for row in self.rows)

    @property
    def news(self) -> int:
        return sum(row.news for row in self.rows)

    @property
    def token(self) -> str:
        """Changes with every grade, so that an organiser releases only what they saw."""
        return sha256(json.dumps(sorted(grade.pk for grade in self.grades)).encode()).hexdigest()[:32]


def readiness(contest: Contest) -> Readiness:
    """What is settled, what is missing, and what students have not seen."""
    cases_settle(contest)
    grades = _grades(contest)
    seen = set(ReleasedGrade.objects.filter(batch__in=batches_active(contest)).values_list("grade", flat=True))
    newest = set(versions_to_mark(contest).values_list("pk", flat=True))
    of_problem: dict[int, int] = {}
    for key in versions_to_mark(contest).values_list("submission__problem", flat=True):
        of_problem[key] = of_problem.get(key, 0) + 1
    rows = []
    for problem in contest.problems.all():
        mine = [grade for grade in grades if grade.case.problem_id == problem.pk]
        settled = sum(grade.case.version_id in newest and grade.case.state in SETTLED for grade in mine)
        rows.append(Ready(problem, of_problem.get(problem.pk, 0), settled, sum(grade.pk not in seen for grade in mine)))
    return Readiness(rows, grades, parts_released(contest))


@transaction.atomic
def batch_release(
    *, contest: Contest, parts: Collection[str], by: User, expected: str, leaves_out: bool = False, address: str = ""
) -> ReleaseBatch:
    """Show these parts of all grades to their authors at once. `address`: the page that the mails link to.

    `expected`: token of the readiness that the organiser saw. Raises `ReleaseRefused`, also for unsettled texts unless
    `leaves_out`.
    """
    contest = Contest.objects.select_for_update().get(pk=contest.pk)
    ready = readiness(contest)
    _may_release(contest, ready, parts, expected, leaves_out)
    now = timezone.now()
    batch = ReleaseBatch.objects.create(
        contest=contest,
        parts=[part.value for part in ReleasePart if part in parts],
        by=by,
        undo_until=now + timedelta(minutes=settings.RELEASE_UNDO_MIN),
    )
    ReleasedGrade.objects.bulk_create(ReleasedGrade(batch=batch, grade=grade) for grade in ready.grades)
    settled = [grade.case_id for grade in ready.grades if grade.case.state == CaseState.SETTLED]
    MarkingCase.objects.filter(pk__in=settled).update(state=CaseState.RELEASED)
    _notices_add(batch, ready.grades, address)
    values = {"parts": batch.parts, "grades": len(ready.grades), "left_out": ready.missing}
    audit("results.released", actor=by, contest=contest, batch=str(batch.public_id), **values)
    return batch


@transaction.atomic
def batch_undo(*, batch: ReleaseBatch, by: User) -> None:
    """Take back the newest batch, and withdraw a ranking that was published after it released points.

    Raises `ReleaseRefused` after its time, after a newer batch, and after an appeal.
    """
    contest = Contest.objects.select_for_update().get(pk=batch.contest_id)
    now = timezone.now()
    if batch.undone_at is not None or not batches_active(contest) or batches_active(contest)[-1].pk != batch.pk:
        raise ReleaseRefused("Only the newest release can be taken back, and only once.")
    if now >= batch.undo_until:
        raise ReleaseRefused("The time for taking back this release is over. Correct it with a further release.")
    cases = list(batch.grades.values_list("grade__case", flat=True))
    since = Appeal.objects.filter(grade__releases__batch=batch, state__in=OPEN_APPEALS, at__gte=batch.released_at)
    if since.exists():
        raise ReleaseRefused("A student has already appealed. Correct the results with a further release.")
    ReleaseBatch.objects.filter(pk=batch.pk).update(undone_at=now, undone_by=by)
    Notice.objects.filter(batch=batch, sent_at=None).delete()
    cases_follow(MarkingCase.objects.filter(pk__in=cases, state=CaseState.RELEASED))
    audit("results.taken-back", actor=by, contest=contest, batch=str(batch.public_id))
    ranking = ranking_of(contest)
    if ranking is not None and ReleasePart.POINTS in batch.parts and ranking.at >= batch.released_at:
        ranking_withdraw(contest=contest, by=by)


def cases_follow(cases: Iterable[MarkingCase]) -> None:
    """Set the state of settled cases from releases and appeals.

    Disputed scripts and scripts in marking stay with their markers; they follow once they are settled.
    """
    unsealed = MarkingTask.objects.filter(case=OuterRef("pk"), slot__in=COUNTED, done_at=None)
    rows = MarkingCase.objects.filter(pk__in=[case.pk for case in cases], state__in=SETTLED).exclude(Exists(unsealed))
    for key, state in states_settled(rows).items():
        MarkingCase.objects.filter(pk=key).exclude(state=state).update(state=state)


def _grades(contest: Contest) -> list[FinalGrade]:
    """For every text, the grade that a batch would show.

    1. Settled texts: the newest grade. Of older versions only those that were released before.
    2. Released texts that are being marked again: the grade that students have seen.
    """
    shown = ReleasedGrade.objects.filter(batch__in=batches_active(contest)).order_by("batch__released_at", "batch__pk")
    seen = dict(shown.values_list("grade__case", "grade"))
    newest = set(versions_to_mark(contest).values_list("pk", flat=True))
    rows = FinalGrade.objects.filter(case__problem__contest=contest).select_related("case").defer("sheet", "derivation")
    by_key = {row.pk: row for row in rows}
    superseded = {row.supersedes_id for row in by_key.values()}
    found = []
    for grade in by_key.values():
        case = grade.case
        is_current = grade.pk not in superseded and (case.version_id in newest or case.pk in seen)
        if is_current if case.state in SETTLED else seen.get(case.pk) == grade.pk:
            found.append(grade)
    return found


def _may_release(contest: Contest, ready: Readiness, parts: Collection[str], expected: str, leaves_out: bool) -> None:
    if contest.state not in (ContestState.MARKING, ContestState.CLOSED):
        raise ReleaseRefused("Results can be released only while a contest is being marked or after it is closed.")
    if not parts or not set(parts) <= set(ReleasePart.values):
        raise ReleaseRefused("Choose at least one part to release.")
    if not ready.grades:
        raise ReleaseRefused("No text has a grade yet, so there is nothing to release.")
    if ready.token != expected:
        raise ReleaseRefused("Nothing was released: grades have changed meanwhile. Check what is ready, then release again.")
    if ready.missing and not leaves_out:
        raise ReleaseRefused(f"Texts without a settled grade: {ready.missing}. Choose to leave them out, or settle them first.")
    shown = {part: grades_shown(contest, part) for part in parts}
    if all(seen.get(grade.case_id) == grade.pk for seen in shown.values() for grade in ready.grades):
        raise ReleaseRefused("Students have already seen all of this.")


def _notices_add(batch: ReleaseBatch, grades: Iterable[FinalGrade], address: str) -> None:
    """Queue a mail for every author with an account and an address whose text has a grade in the batch."""
    cases = MarkingCase.objects.filter(pk__in={grade.case_id for grade in grades})
    people = Identity.objects.filter(paper__in=cases.values("version__submission__paper"), person__is_active=True)
    people = people.exclude(person__email="")
    Notice.objects.bulk_create(
        Notice(batch=batch, person_id=key, address=address) for key in people.values_list("person", flat=True) if key
    )


def examples(ready: Readiness, user: User, most: int = 3) -> list[tuple[ContestProblem, list[FinalGrade]]]:
    """A few texts of each problem to preview before a release: fewest points, most points, and some between.

    Excludes problems that the user is marking, to keep their marks blind.
    """
    shut = problems_shut(user, [row.problem for row in ready.rows])
    unsealed = set(MarkingTask.objects.filter(assignee=user, done_at=None).values_list("case", flat=True))
    shown = [grade for grade in ready.grades if grade.case.problem_id not in shut and grade.case_id not in unsealed]
    found = []
    for row in ready.rows:
        mine = sorted((grade for grade in shown if grade.case.problem_id == row.problem.pk), key=lambda one: one.points)
        last = len(mine) - 1
        places = sorted({round(index * last / (most - 1)) for index in range(most)}) if mine else []
        if places:
            found.append((row.problem, [mine[place] for place in places]))
    return found
