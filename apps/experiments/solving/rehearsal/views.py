"""The page of rehearsals of an experiment on solving; a POST starts one."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.experiments.access import experiment_may_steer, experiments_visible_to, items_hidden, solving_get_for
from apps.experiments.models import Experiment, ExperimentKind
from apps.experiments.refusals import ExperimentRefused
from apps.experiments.solving.rehearsal.background import rehearsal_ask
from apps.experiments.solving.rehearsal.comparing import page_of

STATED_AT_MOST = 20_000


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def rehearsal(request: HttpRequest, experiment_id: uuid.UUID) -> HttpResponse:
    """Show prediction and outcome. A POST of someone who may steer the experiment queues a rehearsal."""
    user = user_of(request)
    experiment = solving_get_for(user, experiment_id)
    may_steer, refusal = experiment_may_steer(user, experiment), ""
    if request.method == "POST":
        if not may_steer:
            raise Http404("There is no such page.")
        try:
            _ask(request, user, experiment)
            return redirect("experiments:rehearsal", experiment_id=experiment_id)
        except ExperimentRefused as error:
            refusal = str(error)
    context = page_of(experiment, user, request.GET.get("scorer", ""))
    context |= {
        "experiment": experiment,
        "may_steer": may_steer,
        "refusal": refusal,
        "hidden": len(items_hidden(user, experiment)),
    }
    context["stated"] = request.POST.get("stated", "")
    is_part = request.headers.get("HX-Target") == "rehearsal"
    name = "experiments/_rehearsal.html" if is_part else "experiments/rehearsal.html"
    response = render(request, name, context, status=422 if refusal else 200)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


def _ask(request: HttpRequest, user: User, experiment: Experiment) -> None:
    """Queue what the form asks for. Raises `ExperimentRefused`."""
    stated, source = request.POST.get("stated", ""), request.POST.get("source", "guess")
    if len(stated) > STATED_AT_MOST:
        raise ExperimentRefused(f"The skills are longer than {STATED_AT_MOST:,} characters. Use the command line for them.")
    if source in ("guess", "trials"):
        rehearsal_ask(experiment=experiment, user=user, source=source, stated=stated)
        return
    try:
        found = experiments_visible_to(user).filter(public_id=uuid.UUID(source), kind=ExperimentKind.SOLVING).first()
    except ValueError:
        found = None
    if found is None:
        raise ExperimentRefused("Choose one of the listed sources of skills.")
    rehearsal_ask(experiment=experiment, user=user, source="runs", fitted_to=found, stated=stated)
