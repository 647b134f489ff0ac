"""The view of the page of budgets."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.experiments.access import experiment_may_steer, items_hidden, solving_get_for
from apps.experiments.solving.curves.pages import page_of


@never_cache
@require_GET
def curve_page(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """Scores at smaller budgets, and which methods are best for their cost."""
    user = user_of(request)
    experiment = solving_get_for(user, experiment_id)
    context = page_of(experiment, request.GET.get("scorer", ""), request.GET.get("unit", ""))
    context |= {
        "hidden": len(items_hidden(user, experiment)),
        "experiment": experiment,
        "may_steer": experiment_may_steer(user, experiment),
    }
    return render(request, "experiments/curves.html", context)
