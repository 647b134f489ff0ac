"""Pages of the schedule simulator, for researchers: form with table, and figures of the charts."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.datasets.access import researcher_required
from apps.learning.charts.schedules import TITLES, schedule_figures
from apps.learning.schedules.forms import ScheduleForm
from apps.learning.schedules.schedule import simulate


@require_GET
def schedule_simulate(request: HttpRequest) -> HttpResponse:
    """Show the form and its results; by default MarsRL's sizes with the answer lengths at the start of its training."""
    researcher_required(user_of(request))
    form = ScheduleForm(request.GET)
    found = simulate(form.setting) if form.is_valid() else None
    context = {
        "form": form,
        "found": found,
        "charts": [(name, *words) for name, words in TITLES.items()],
        "query": request.GET.urlencode(),
    }
    return render(request, "learning/schedule_simulate.html", context, status=200 if found else 422)


@require_GET
def schedule_data(request: HttpRequest) -> JsonResponse:
    """Return the charts of a setting as JSON; 422 with the form's errors where it is invalid."""
    researcher_required(user_of(request))
    form = ScheduleForm(request.GET)
    if not form.is_valid():
        return JsonResponse({"detail": form.errors.get_json_data()}, status=422)
    return JsonResponse(schedule_figures(simulate(form.setting)))
