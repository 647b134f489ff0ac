"""Views of experiments on solving: the builder, the page, and the cells behind a square of its heat map."""

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.db.models import F, Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_allowed, user_of
from apps.experiments.access import experiment_may_steer, items_hidden, solving_get_for
from apps.experiments.models import CellScore, Experiment
from apps.experiments.presets.tables import presets
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.comparing.endings import cells_ended, cells_failed_as, words_of
from apps.experiments.solving.estimate import forecast_of, playing
from apps.experiments.solving.forms import builder_new
from apps.experiments.solving.manifest import Manifest
from apps.experiments.solving.pages import page_of
from apps.experiments.solving.planning import Planner
from apps.experiments.solving.rehearsal.background import rehearsal_ask
from apps.experiments.solving.services import is_free, items_chosen, solving_start
from apps.explorations.starting.plans import usable_aliases
from apps.problem_sets.contamination import flags_worded
from apps.problem_sets.models import ProblemSet
from apps.reasoning.domain.errors import AliasError
from apps.runs.access import run_may_start, run_visible_to
from apps.ui.refusals import refusals_shown
from apps.ui.sent import whole_number

PAGE = 100
_FILTERS = {"problem": "item__name", "method": "method", "team": "team", "state": "state"}


def solving_page(request: HttpRequest, experiment: Experiment) -> HttpResponse:
    """The page of an experiment that the user may open; for htmx only the changing part."""
    user = user_of(request)
    context = page_of(experiment, request.GET.dict(), items_hidden(user, experiment))
    context |= {"experiment": experiment, "may_steer": experiment_may_steer(user, experiment), "is_free": is_free(experiment)}
    context["flags"] = _flags(experiment, context["manifest"])
    is_part = request.headers.get("HX-Target") == "experiment"
    response = render(request, "experiments/_solving.html" if is_part else "experiments/solving.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _flags(experiment: Experiment, manifest: Manifest) -> str:
    """Signs that models of the experiment know its problems, in words."""
    version = experiment.problem_set
    if version is None:
        return ""
    try:
        models = playing(manifest, usable_aliases())
    except AliasError:  # The page of models explains it.
        models = {}
    items = version.items.filter(pk__in=experiment.solving_cells.values("item")).select_related("problem__problem")
    return flags_worded(version, list(items.only("name", "version", "problem__problem__year")), models)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def solving_new(request: HttpRequest) -> HttpResponse:
    """Show the builder. A request that does not start shows the estimate, and adds a row if it asks for one."""
    user = user_allowed(request, run_may_start)
    try:
        aliases, trouble = usable_aliases(), ""
    except AliasError as error:
        aliases, trouble = {}, str(error)
    preset = presets().get(request.GET.get("preset", ""))
    builder = builder_new(aliases, request.POST if request.method == "POST" else None, request.GET.dict(), preset)
    manifest = builder.manifest() if request.method == "POST" else None
    forecast, refusal = None, ""
    try:
        if manifest is not None and builder.asks_to_start:
            first, start_id = builder.asks_to_rehearse, builder.form.cleaned_data["start_id"]
            made = solving_start(owner=user, manifest=manifest, start_id=start_id, planned=first)
            if first and not made.rehearsals.exists():
                with refusals_shown(request, ExperimentRefused):
                    rehearsal_ask(experiment=made, user=user, source="trials")
            return redirect("experiments:rehearsal" if first else "experiments:detail", experiment_id=made.public_id)
        if manifest is not None:
            forecast = forecast_of(manifest, items_chosen(manifest), Planner(manifest, aliases, user))
            if preset and (words := preset.other_set(builder.form.cleaned_data["set"].title)):
                forecast.conflicts.insert(0, words)
    except ExperimentRefused as error:
        refusal = str(error)
    context: dict[str, Any] = {"builder": builder, "forecast": forecast, "trouble": trouble}
    context |= {"refusal": refusal or builder.trouble, "has_sets": ProblemSet.objects.exists(), "preset": preset}
    if preset:
        context["lacks_set"] = not preset.found_in(dict(ProblemSet.objects.values_list("slug", "title")))
    if request.headers.get("HX-Target") == "forecast":
        return render(request, "experiments/_solving_forecast.html", context)
    is_wrong = builder.asks_to_start and (manifest is None or bool(refusal))
    return render(request, "experiments/solving_new.html", context, status=422 if is_wrong else 200)


@never_cache
@require_GET
def cell_list(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """The cells of a problem, method, team and budget, with their runs, scores and reasons."""
    user = user_of(request)
    experiment = solving_get_for(user, experiment_id)
    asked = {name: request.GET.get(name, "").replace("\0", "")[:200] for name in (*_FILTERS, "ending", "reason")}
    budget = whole_number(request.GET.get("budget", ""), 4)
    cells = experiment.solving_cells.exclude(item__in=items_hidden(user, experiment))
    scores = Prefetch("scores", CellScore.objects.filter(answer=F("cell__answer")).order_by("pk"))
    cells = cells.select_related("run", "item__problem__problem").prefetch_related(scores)
    for name, field in _FILTERS.items():
        cells = cells.filter(**{field: asked[name]}) if asked[name] else cells
    cells = cells if budget is None else cells.filter(budget=budget)
    cells = cells_ended(cells, asked["ending"]) if asked["ending"] else cells
    cells = cells_failed_as(cells, asked["reason"]) if asked["reason"] else cells
    query = request.GET.copy()
    query.pop("page", None)
    page = Paginator(cells, PAGE).get_page(request.GET.get("page"))
    shown = run_visible_to(user).filter(pk__in=[cell.run_id for cell in page if cell.run_id])
    context = {"experiment": experiment, "asked": asked, "page": page, "query": query.urlencode()}
    context |= {"ending": words_of(asked["ending"]), "runs": set(shown.values_list("pk", flat=True))}
    return render(request, "experiments/cells.html", context)
