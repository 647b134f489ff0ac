"""Compare the marks of a case. Equal marks settle it; different ones go to people. Nothing is averaged.

| marks | result |
|---|---|
| one is missing | the case stays open |
| equal points and equal ticks | settled by the first mark, with the notes to the student from all marks |
| different | disputed: the markers settle it in coordination |
| points differ by two of seven or more | first a fresh mark by a coach who has seen nothing, if there is one |
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.models import ContestCoach
from apps.contests.opening import openings
from apps.marks.audit import audit
from apps.marks.grades import grade_give, grade_of, is_recomputed
from apps.marks.leases import drafts_archive, is_free
from apps.marks.models import (
    Appeal,
    AppealState,
    AuditEvent,
    CaseState,
    Coordination,
    EarlyReveal,
    Mark,
    MarkingCase,
    MarkingTask,
    MarkState,
    Pass,
    PassReason,
    ReleasedGrade,
    Reveal,
    RevealKind,
    Slot,
)
from apps.marks.sheets import scheme_of, sheet_of
from apps.marks.team.conflicts import people_in_conflict
from apps.reasoning.marking.revealing import is_large
from apps.reasoning.marking.sheets.commands import sheet_json
from apps.reasoning.marking.sheets.joining import notes_joined

COUNTED = (Slot.FIRST, Slot.SECOND, Slot.THIRD, Slot.AGAIN)
DISMISSED, NO_FRESH_MARKER = "fresh.dismissed", "fresh.nobody"
OPEN_APPEALS = (AppealState.WRITTEN, AppealState.HEARD)
CLOSED = (CaseState.RELEASED, CaseState.APPEALED)


@dataclass(frozen=True)
class Comparison:
    """The result of comparing marks. `difference`: highest minus lowest points."""

    is_equal: bool
    difference: Decimal
    is_large: bool


def marks_counted(case: MarkingCase) -> list[Mark]:
    """The sealed marks that decide a case, in the order of their slots; only the newest if it was marked again."""
    rows = Mark.objects.filter(task__case=case, task__slot__in=COUNTED).exclude(state__in=(MarkState.DRAFT, MarkState.VOID))
    marks = rows.select_related("marker", "scheme_version", "task__case__problem__contest")
    again = [mark for mark in marks if mark.task.slot == Slot.AGAIN]
    if again:
        return [max(again, key=lambda mark: mark.pk)]
    return sorted(marks, key=lambda mark: COUNTED.index(Slot(mark.task.slot)))


def marks_compare(marks: Sequence[Mark]) -> Comparison:
    """Compare marks in their current state."""
    points = [mark.points for mark in marks if mark.points is not None]
    difference = max(points) - min(points)
    claims = {(sheet.ticks, sheet.is_mixed) for sheet in map(sheet_of, marks)}
    schemes = {mark.scheme_version.meaning_hash if mark.scheme_version else "" for mark in marks}
    is_equal = difference == 0 and len(claims) == 1 and len(schemes) == 1
    return Comparison(is_equal, difference, is_large(difference, scheme_of(marks[0]).scale))


@transaction.atomic
def case_compare(case: MarkingCase) -> CaseState:
    """Compare all marks of a case and update its state; returns the new state.

    Called when the marks of a case are due and when one was revised. Leaves released and appealed cases unchanged, because only
    an appeal or a scheme change may alter their grade. Grades from either are left unchanged too (`is_grade_independent`).
    """
    case = MarkingCase.objects.select_for_update(of=("self",)).select_related("problem__contest").get(pk=case.pk)
    marks = marks_counted(case)
    if case.state in CLOSED or not marks or case.tasks.filter(slot__in=COUNTED, done_at=None).exists():
        return CaseState(case.state)
    if _is_coordinated(case, marks) or is_grade_independent(case, marks):
        return _moved(case, states_settled([case])[case.pk])
    found = marks_compare(marks)
    if found.is_equal:
        grade = grade_of(case)
        sheet = notes_joined([sheet_of(mark) for mark in marks])
        if grade is None or grade.mark not in marks or (grade.points, grade.sheet) != (marks[0].points, sheet_json(sheet)):
            is_about_notes = grade is not None and (grade.mark, grade.points) == (marks[0], marks[0].points)
            reason = grade.reason if grade is not None and is_about_notes else ""
            grade_give(case=case, mark=marks[0], by=marks[0].marker, reason=reason, sheet=sheet)
        return _moved(case, states_settled([case])[case.pk])
    if found.is_large and fresh_open(case=case, why="large difference between marks"):
        return CaseState.OPEN
    coordination_open(case=case, marks=marks)
    return _moved(case, CaseState.DISPUTED)


def is_grade_independent(case: MarkingCase, marks: Sequence[Mark]) -> bool:
    """Whether the current grade does not come from these marks as made, but from an appeal or a changed scheme.

    After a script was sent back, a new mark without a grade is newer than any such grade, so the result is False.
    """
    grade = grade_of(case)
    if grade is None or any(mark.task.slot == Slot.AGAIN and not mark.grades.exists() for mark in marks):
        return False
    return (grade.mark is not None and grade.mark not in marks) or is_recomputed(grade)


def states_settled(cases: Iterable[MarkingCase]) -> dict[int, CaseState]:
    """By key, the state of cases with settled marks: appealed, released or settled."""
    keys = [case.pk for case in cases]
    appealed = set(Appeal.objects.filter(grade__case__in=keys, state__in=OPEN_APPEALS).values_list("grade__case", flat=True))
    current = ReleasedGrade.objects.filter(batch__undone_at=None, grade__case__in=keys, grade__superseded_by=None)
    released = set(current.values_list("grade__case", flat=True))
    return {
        key: CaseState.APPEALED if key in appealed else CaseState.RELEASED if key in released else CaseState.SETTLED
        for key in keys
    }


@transaction.atomic
def fresh_open(*, case: MarkingCase, why: str) -> MarkingTask | None:
    """Open a task for a fresh marker; None if there was one already, or if no coach is eligible.

    The record notes once that no coach is eligible, for the captain and organisers.
    """
    was_asked = case.tasks.filter(slot=Slot.THIRD).exists() or case.audit.filter(verb=DISMISSED).exists()
    if case.state in CLOSED or was_asked:
        return None
    if not fresh_people(case).exists():
        if not case.audit.filter(verb=NO_FRESH_MARKER).exists():
            audit(NO_FRESH_MARKER, actor=None, case=case, why=why)
        return None
    task = MarkingTask.objects.create(case=case, slot=Slot.THIRD)
    _moved(case, CaseState.OPEN)
    audit("fresh.asked", actor=None, case=case, why=why)
    return task


@transaction.atomic
def fresh_dismiss(*, case: MarkingCase, by: User) -> bool:
    """Withdraw an unclaimed fresh task so that people can settle the case; False if a marker holds it.

    A draft left in the task is kept in the record. A mark that was sealed and reopened is not removed.
    """
    waiting = case.tasks.filter(is_free(timezone.now()), slot=Slot.THIRD)
    task = waiting.exclude(mark__in=AuditEvent.objects.filter(case=case, mark__isnull=False).values("mark")).first()
    if task is None or not waiting.filter(pk=task.pk).update(assignee=None, lease_until=None):
        return False
    drafts_archive(task.pk, to=None)
    task.delete()
    audit(DISMISSED, actor=by, case=case)
    case_compare(case)
    return True


def fresh_people(case: MarkingCase) -> QuerySet[ContestCoach]:
    """Coaches who may make a fresh mark: they neither marked the case, saw anything about it, opened or know its author, nor
    have a conflict.

    Organisers and the captain can read lists, files and papers with the grades of settled scripts, without a ledger entry for
    each script. If a script ever had a grade, they are therefore excluded.
    """
    seen = Reveal.objects.filter(case=case, person__isnull=False).exclude(kind=RevealKind.PRECEDENTS).values("person")
    early = EarlyReveal.objects.filter(submission=case.version.submission_id, person__isnull=False).values("person")
    marked = case.tasks.filter(assignee__isnull=False).exclude(slot=Slot.THIRD).values("assignee")
    ruled = Pass.objects.filter(task__case=case, answered_by__isnull=False).exclude(task__slot=Slot.THIRD).values("answered_by")
    knowing = Pass.objects.filter(task__case=case, reason=PassReason.CONFLICT).values("person")
    opened = openings().filter(paper=case.version.submission.paper_id).values("by")
    coaches = case.problem.contest.coaches.exclude(person__in=seen).exclude(person__in=early).exclude(person__in=marked)
    coaches = coaches.exclude(person__in=opened).exclude(person__in=people_in_conflict(case.version.submission.paper))
    if case.grades.exists():
        coaches = coaches.exclude(Q(is_organiser=True) | Q(person=case.problem.captain_id))
    return coaches.exclude(person__in=ruled).exclude(person__in=knowing)


def coordination_open(*, case: MarkingCase, marks: Sequence[Mark]) -> Coordination:
    """The open coordination of a case with all its marks; created if needed."""
    newest = max((mark.scheme_version for mark in marks if mark.scheme_version), key=lambda one: one.number, default=None)
    coordination, is_new = Coordination.objects.get_or_create(case=case, outcome="", defaults={"scheme_version": newest})
    coordination.marks.set(marks)
    if is_new:
        audit("coordination.opened", actor=None, case=case, marks=[str(mark.public_id) for mark in marks])
    return coordination


def _is_coordinated(case: MarkingCase, marks: Sequence[Mark]) -> bool:
    """Whether a coordination has already settled these marks."""
    keys = {mark.pk for mark in marks}
    settled = case.coordinations.exclude(outcome="").prefetch_related("marks")
    return any(keys <= {mark.pk for mark in one.marks.all()} for one in settled)


def _moved(case: MarkingCase, state: CaseState) -> CaseState:
    if case.state != state:
        before, case.state = case.state, state
        MarkingCase.objects.filter(pk=case.pk).update(state=state, row_version=F("row_version") + 1)
        audit("case.moved", actor=None, case=case, before=before, after=state.value)
    return state
