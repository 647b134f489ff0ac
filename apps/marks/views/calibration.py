"""Calibration scripts of a problem and the drift of its markers, for its captain and organisers."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.marks.access import problem_captained_for
from apps.marks.blindness import own_marks_require
from apps.marks.models import SETTLED, Mark, MarkingCase, Slot
from apps.marks.sealing import calibration as service
from apps.marks.sealing.seeing import case_get_for
from apps.marks.views.blind import after_own_marks
from apps.ui.refusals import refusals_shown

SHOWN = 200


@never_cache
@after_own_marks
@require_GET
def calibration(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Show calibration scripts, the marks on them, and the statistics of re-marks."""
    user = user_of(request)
    problem = problem_captained_for(user, problem_id)
    own_marks_require(user, problem)
    settled = MarkingCase.objects.filter(problem=problem, state__in=SETTLED).select_related("version__submission__paper")
    marks = Mark.objects.filter(task__case__problem=problem, task__slot=Slot.CALIBRATION, sealed_at__isnull=False)
    made = [service.agreed_for(mark) for mark in marks.select_related("marker", "scheme_version", "task__case")]
    context = {
        "problem": problem,
        "contest": problem.contest,
        "setup": getattr(problem, "setup", None),
        "cases": settled.order_by("version__submission__paper__number")[:SHOWN],
        "made": [one for one in made if one is not None],
        "drift": service.drift_figures(problem),
        "rates_from": service.RATES_FROM,
    }
    return render(request, "marks/calibration.html", context)


@after_own_marks
@require_POST
def calibration_change(request: HttpRequest, case_id: uuid.UUID) -> HttpResponse:
    """Add a settled script to calibration (`is_on`), or remove it."""
    user = user_of(request)
    case = case_get_for(user, case_id)
    with refusals_shown(request, service.CalibrationRefused):
        service.calibration_set(case=case, by=user, is_on=bool(request.POST.get("is_on")))
    return redirect("marks:calibration", problem_id=case.problem.public_id)
