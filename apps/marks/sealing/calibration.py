"""Calibration scripts and seeded re-marks: settled scripts are marked again to measure how a marker marks.

A captain selects settled scripts for calibration. Markers of the problem mark them too and see the agreed marks after sealing.
The setup can require calibration before any other script. Re-marks return unannounced to the coach who sealed them. Neither
kind of mark counts for a grade.
"""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from hashlib import blake2b

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.accounts.models import User
from apps.contests.access import paper_own
from apps.contests.models import ContestProblem, ContestState
from apps.contests.opening import openings
from apps.marks.access import captain_is
from apps.marks.audit import audit
from apps.marks.coordination.comparing import COUNTED, marks_counted
from apps.marks.grades import grade_of
from apps.marks.leases import LEASE
from apps.marks.models import (
    SETTLED,
    FinalGrade,
    Mark,
    MarkingCase,
    MarkingSetup,
    MarkingTask,
    MarkState,
    Pass,
    PassReason,
    Reveal,
    RevealKind,
    Slot,
)
from apps.marks.sheets import scheme_of, sheet_of
from apps.marks.team.conflicts import papers_in_conflict
from apps.reasoning.marking.sheets.positions import ItemDifference, Position, StepDifference, item_differences, step_differences
from apps.reasoning.marking.sheets.sheet import MarkSheet

#: A script returns only after this many other scripts or this much time, so that its marker does not simply remember it.
SCRIPTS_BETWEEN, REST = 8, timedelta(hours=12)
#: Fewest re-marks for which a mean is shown; fewer show counts only.
RATES_FROM = 30


class CalibrationRefused(Exception):
    """The script cannot be used for calibration; the message gives the reason."""


@dataclass(frozen=True)
class Agreed:
    """A calibration mark, compared with the agreed mark."""

    mark: Mark
    grade: FinalGrade
    items: list[ItemDifference]
    steps: list[StepDifference]

    @property
    def difference(self) -> Decimal:
        return (self.mark.points or Decimal(0)) - self.grade.points


@dataclass(frozen=True)
class Drift:
    """A marker's re-marks compared with their first marks.

    `signed`: mean of later minus earlier points; None below `RATES_FROM` re-marks.
    """

    marker: User
    count: int
    equal: int
    within_one: int
    signed: Decimal | None


def calibration_list(problem: ContestProblem) -> QuerySet[MarkingCase]:
    """The calibration scripts of a problem."""
    return MarkingCase.objects.filter(problem=problem, is_calibration=True, state__in=SETTLED).order_by("pk")


@transaction.atomic
def calibration_set(*, case: MarkingCase, by: User, is_on: bool) -> None:
    """Add a settled script to calibration, or remove it. Raises `CalibrationRefused`."""
    if is_on and (case.state not in SETTLED or grade_of(case) is None):
        raise CalibrationRefused("This script is not settled. A calibration script needs an agreed mark.")
    MarkingCase.objects.filter(pk=case.pk).update(is_calibration=is_on)
    if not is_on:
        MarkingTask.objects.filter(case=case, slot=Slot.CALIBRATION, done_at=None, mark=None).delete()
    audit("calibration.on" if is_on else "calibration.off", actor=by, case=case)


def calibration_left(problem: ContestProblem, user: User) -> list[MarkingCase]:
    """Calibration scripts that this marker has neither sealed nor settled; skipped ones come last."""
    if not calibration_list(problem).exists():
        return []
    known = MarkingTask.objects.filter(case__problem=problem, assignee=user, done_at__isnull=False)
    passes = Pass.objects.filter(person=user, task__case__problem=problem)
    conflicts = passes.filter(reason=PassReason.CONFLICT).values("task__case")
    cases = calibration_list(problem).exclude(pk__in=known.values("case")).exclude(pk__in=conflicts)
    paper = paper_own(user, problem.contest)
    cases = cases.exclude(version__submission__paper=paper) if paper else cases
    cases = cases.exclude(version__submission__paper__in=papers_in_conflict(user, problem.contest))
    cases = cases.exclude(version__submission__paper__in=openings().filter(by=user).values("paper"))
    put_off = set(passes.filter(reason=PassReason.SKIP).values_list("task__case", flat=True))
    return sorted(cases, key=lambda case: (case.pk in put_off, _drawn(problem.setup, f"calibration/{user.pk}/{case.pk}")))


def calibration_ahead(user: User) -> QuerySet[MarkingCase]:
    """Calibration scripts of contests being marked that are still hidden from this marker: they have not marked them yet."""
    done = MarkingTask.objects.filter(assignee=user, done_at__isnull=False)
    cases = MarkingCase.objects.filter(is_calibration=True, problem__contest__state=ContestState.MARKING)
    return cases.exclude(pk__in=done.values("case"))


def gate_refusal(problem: ContestProblem, user: User) -> str:
    """Why this marker may not mark scripts of the problem yet; empty if they may."""
    if not problem.setup.needs_calibration or captain_is(user, problem):
        return ""
    if not calibration_list(problem).exists():
        return "Marking of this problem starts when its captain has chosen calibration scripts."
    return "Mark the calibration scripts first." if calibration_left(problem, user) else ""


@transaction.atomic
def task_ahead(problem: ContestProblem, user: User, held: set[int]) -> int | None:
    """Claim a calibration task or a due re-mark for this marker; returns its key, or None if there is neither.

    `held`: cases of scripts that the marker already holds, which are excluded.
    """
    case, slot = next((one for one in calibration_left(problem, user) if one.pk not in held), None), Slot.CALIBRATION
    if case is None:
        case, slot = remark_due(problem, user), Slot.REMARK
    if case is None:
        return None
    free = MarkingTask.objects.filter(case=case, slot=slot, assignee=None, done_at=None, mark=None)
    for key in free.values_list("pk", flat=True):
        # Filters on columns of the task only: PostgreSQL rechecks just these if another marker was faster.
        if MarkingTask.objects.filter(pk=key, assignee=None).update(assignee=user, lease_until=timezone.now() + LEASE):
            return key
    return MarkingTask.objects.create(case=case, slot=slot, assignee=user, lease_until=timezone.now() + LEASE).pk


def remark_due(problem: ContestProblem, user: User) -> MarkingCase | None:
    """The settled script that returns to its marker now, if the draw selects one. Each script returns once."""
    setup = problem.setup
    if not setup.remark_percent:
        return None
    sealed = Mark.objects.filter(task__case__problem=problem, marker=user).exclude(state__in=(MarkState.DRAFT, MarkState.VOID))
    number = sealed.count()
    if int(_drawn(setup, f"again/{user.pk}/{number}")[:8], 16) % 100 >= setup.remark_percent:
        return None
    came_back = sealed.filter(task__slot=Slot.REMARK)
    if came_back.count() * 100 >= number * setup.remark_percent:
        return None
    own = sealed.filter(task__slot__in=COUNTED, task__case__state__in=SETTLED).exclude(
        task__case__in=MarkingTask.objects.filter(~Q(slot__in=COUNTED), assignee=user).values("case")
    )
    own = own.exclude(task__case__version__submission__paper__in=openings().filter(by=user).values("paper"))
    rows = list(own.order_by("-sealed_at").select_related("task__case"))
    rested = [
        mark.task.case
        for mark in rows
        if sealed.filter(sealed_at__gt=mark.sealed_at).count() >= SCRIPTS_BETWEEN
        or (mark.sealed_at is not None and mark.sealed_at < timezone.now() - REST)
    ]
    return min(rested, key=lambda case: _drawn(setup, f"remark/{user.pk}/{case.pk}"), default=None)


def agreed_for(mark: Mark) -> Agreed | None:
    """The agreed mark of a calibration script, for a sealed mark on it; None for every other mark."""
    grade = grade_of(mark.task.case)
    if mark.task.slot != Slot.CALIBRATION or mark.state == MarkState.DRAFT or grade is None:
        return None
    own, agreed = sheet_of(mark), MarkSheet.model_validate(grade.sheet)
    claims = [Position(ticks=sheet.ticks, is_mixed=sheet.is_mixed, typed=sheet.typed) for sheet in (own, agreed)]
    return Agreed(mark, grade, item_differences(scheme_of(mark), claims), step_differences([own, agreed]))


@transaction.atomic
def agreed_show(mark: Mark) -> Agreed | None:
    """`agreed_for` for the marker. Recorded as a reveal first, so that the mark cannot be reopened."""
    Mark.objects.select_for_update().get(pk=mark.pk)
    found = agreed_for(mark)
    if found is None or not Mark.objects.filter(pk=mark.pk, state=mark.state).exists():
        return None
    grade = found.grade
    for basis in _bases(grade):
        kept = {"case": mark.task.case, "person": mark.marker, "kind": RevealKind.COLLEAGUE, "mark": basis}
        Reveal.objects.get_or_create(**kept, defaults={"trigger": "calibration"})
    return found


def _bases(grade: FinalGrade) -> list[Mark]:
    """The marks from which a grade's claim and notes come; both marks of an equal pair."""
    if grade.coordination is not None:
        return list(grade.coordination.marks.all())
    counted = marks_counted(grade.case)
    return counted if grade.mark in counted else [grade.mark] if grade.mark else []


def drift_figures(problem: ContestProblem) -> list[Drift]:
    """Re-marks compared with the sealed marks of the same marker on the same script, by marker."""
    again = Mark.objects.filter(task__case__problem=problem, task__slot=Slot.REMARK, sealed_at__isnull=False)
    pairs: dict[User, list[Decimal]] = {}
    for later in again.exclude(state=MarkState.VOID).select_related("marker", "task"):
        earlier = Mark.objects.filter(task__case=later.task.case_id, task__slot__in=COUNTED, marker=later.marker)
        points = earlier.exclude(sealed_points=None).values_list("sealed_points", flat=True).first()
        if points is not None and later.sealed_points is not None:
            pairs.setdefault(later.marker, []).append(later.sealed_points - points)
    return [_drift(marker, gaps) for marker, gaps in sorted(pairs.items(), key=lambda pair: pair[0].username)]


def _drift(marker: User, gaps: list[Decimal]) -> Drift:
    count = len(gaps)
    return Drift(
        marker=marker,
        count=count,
        equal=sum(gap == 0 for gap in gaps),
        within_one=sum(abs(gap) <= 1 for gap in gaps),
        signed=(sum(gaps, Decimal(0)) / count).quantize(Decimal("0.01")) if count >= RATES_FROM else None,
    )


def _drawn(setup: MarkingSetup, what: str) -> str:
    return blake2b(f"{setup.seed}/{what}".encode(), digest_size=8).hexdigest()
