"""Views of experiments on solving: the page, and the cells behind a square of its heat map."""

import uuid

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.experiments.access import experiment_get_for, experiment_may_steer
from apps.experiments.models import Experiment, ExperimentKind
from apps.experiments.solving.pages import page_of
from apps.ui.sent import whole_number

PAGE = 100


def solving_page(request: HttpRequest, experiment: Experiment) -> HttpResponse:
    """The page of an experiment that the user may open; for htmx only the changing part."""
    context = page_of(experiment, request.GET.get("scorer", ""))
    context |= {"experiment": experiment, "may_steer": experiment_may_steer(user_of(request), experiment)}
    is_part = request.headers.get("HX-Target") == "experiment"
    response = render(request, "experiments/_solving.html" if is_part else "experiments/solving.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


@never_cache
@require_GET
def cell_list(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """The cells of a problem, method, team and budget, with their runs, scores and reasons."""
    experiment = experiment_get_for(user_of(request), experiment_id)
    if experiment.kind != ExperimentKind.SOLVING:
        raise Http404("This experiment has no such cells.")
    asked = {name: request.GET.get(name, "").replace("\0", "")[:200] for name in ("problem", "method", "team", "state")}
    budget = whole_number(request.GET.get("budget", ""), 4)
    cells = experiment.solving_cells.select_related("run", "item__problem__problem").prefetch_related("scores")
    for name, field in (("problem", "item__name"), ("method", "method"), ("team", "team"), ("state", "state")):
        cells = cells.filter(**{field: asked[name]}) if asked[name] else cells
    cells = cells if budget is None else cells.filter(budget=budget)
    query = request.GET.copy()
    query.pop("page", None)
    page = Paginator(cells, PAGE).get_page(request.GET.get("page"))
    context = {"experiment": experiment, "asked": asked, "page": page, "query": query.urlencode()}
    return render(request, "experiments/cells.html", context)
