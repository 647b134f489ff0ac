"""The page that adds to an experiment on solving."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.access import user_of
from apps.experiments.access import experiment_may_steer, solving_get_for
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.checks import forecast_added
from apps.experiments.solving.extending.filling import Extension
from apps.experiments.solving.services import is_free, solving_extend
from apps.explorations.starting.plans import usable_aliases
from apps.reasoning.domain.errors import AliasError


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def experiment_extend(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """Show the builder with the stored manifest. A request that does not add shows what is new and what it would cost."""
    user = user_of(request)
    experiment = solving_get_for(user, experiment_id)
    if not experiment_may_steer(user, experiment):
        raise Http404("There is no such page.")
    try:
        aliases, trouble = usable_aliases(), ""
    except AliasError as error:
        aliases, trouble = {}, str(error)
    builder = Extension(experiment, aliases, request.POST if request.method == "POST" else None)
    manifest = builder.manifest() if request.method == "POST" else None
    forecast, refusal = None, ""
    try:
        if manifest is not None and builder.asks_to_start:
            solving_extend(experiment=experiment, manifest=manifest)
            return redirect("experiments:detail", experiment_id=experiment_id)
        if manifest is not None:
            forecast = forecast_added(experiment, manifest, aliases)
    except ExperimentRefused as error:
        refusal = str(error)
    context = {"builder": builder, "forecast": forecast, "trouble": trouble, "experiment": experiment, "has_sets": True}
    context["is_free"] = is_free(experiment)
    context["refusal"] = refusal or builder.trouble
    if request.headers.get("HX-Target") == "forecast":
        return render(request, "experiments/_solving_forecast.html", context)
    is_wrong = builder.asks_to_start and (manifest is None or bool(refusal))
    return render(request, "experiments/solving_new.html", context, status=422 if is_wrong else 200)
