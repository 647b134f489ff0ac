"""Pages of trained models: list, registration, comparison with the parent, and decision."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.datasets.access import researcher_required
from apps.graders.starting import models_for_grading
from apps.learning.access import job_get_for
from apps.learning.jobs.folders import checkpoint_steps
from apps.learning.jobs.waiting import comparison_waits
from apps.learning.models import ModelState, TrainedModel
from apps.learning.trained.card import card_of
from apps.learning.trained.comparing import NotComparable
from apps.learning.trained.deciding import NotDecided, model_decide
from apps.learning.trained.forms import DecisionForm, ProblemsForm, RegisterForm, ToyForm
from apps.learning.trained.measuring import measurement_settle
from apps.learning.trained.paired import result_of
from apps.learning.trained.registering import NotRegistered
from apps.problem_sets.models import ProblemSet
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias


@never_cache
@require_GET
def model_list(request: HttpRequest) -> HttpResponse:
    """List all trained models, newest first."""
    researcher_required(user_of(request))
    rows = TrainedModel.objects.select_related("job", "registered_by")
    return render(request, "learning/model_list.html", {"rows": rows})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def model_register(request: HttpRequest, job_id: uuid.UUID, step: int) -> HttpResponse:
    """Show and process the form that registers a checkpoint."""
    user = user_of(request)
    job = job_get_for(user, job_id)
    if step not in checkpoint_steps(job.folder):
        raise Http404("There is no such checkpoint.")
    try:
        form = RegisterForm(request.POST or None, job=job)
        if request.method == "POST" and form.is_valid():
            return redirect("learning:model", name=form.register(user, step).name)
        trouble = ""
    except (NotRegistered, AliasError) as error:
        trouble = str(error)
    context = {"form": form, "job": job, "step": step, "trouble": trouble}
    return render(request, "learning/model_register.html", context, status=422 if trouble or form.errors else 200)


@never_cache
@require_GET
def model_detail(request: HttpRequest, name: str) -> HttpResponse:
    """Show a model with its comparisons and decisions; for htmx only the part that changes."""
    user = user_of(request)
    model = _model_for(user, name)
    is_part = request.headers.get("HX-Target") == "comparisons"
    context = _context(model) if is_part else {**_forms(model), **_context(model)}
    response = render(request, "learning/_comparisons.html" if is_part else "learning/model_detail.html", context)
    patch_vary_headers(response, ["HX-Request", "HX-Target"])
    return response


@require_POST
def model_compare(request: HttpRequest, name: str, kind: str) -> HttpResponse:
    """Start a comparison on a toy or on problems."""
    user = user_of(request)
    model = _model_for(user, name)
    forms = _forms(model, {kind: request.POST})
    form = forms.get(f"{kind}_form")
    if form is None:
        raise Http404
    if form.is_valid():
        try:
            form.start(user)
            return redirect("learning:model", name=model.name)
        except NotComparable as error:
            form.add_error(None, str(error))
    return render(request, "learning/model_detail.html", {**forms, **_context(model)}, status=422)


@require_POST
def model_decision(request: HttpRequest, name: str) -> HttpResponse:
    """Promote or reject a model."""
    user = user_of(request)
    model = _model_for(user, name)
    form = DecisionForm(request.POST)
    if form.is_valid():
        try:
            state = ModelState(form.cleaned_data["state"])
            model_decide(model=model, state=state, reason=form.cleaned_data["reason"], user=user)
            messages.success(request, f"{model.name} is {model.get_state_display()}.")
            return redirect("learning:model", name=model.name)
        except NotDecided as error:
            form.add_error(None, str(error))
    return render(
        request,
        "learning/model_detail.html",
        {**_forms(model), **_context(model), "decision_form": form},
        status=422,
    )


def _model_for(user: User, name: str) -> TrainedModel:
    researcher_required(user)
    found = TrainedModel.objects.select_related("job", "registered_by").filter(name=name).first()
    if found is None:
        raise Http404("There is no such model.")
    return found


def _context(model: TrainedModel) -> dict[str, Any]:
    comparisons = list(model.comparisons.select_related("started_by", "model", "experiment"))
    for one in comparisons:
        measurement_settle(one)
    rows = [(one, result_of(one)) for one in comparisons]
    return {
        "model": model,
        "rows": rows,
        "waits": next(filter(None, map(comparison_waits, comparisons)), ""),
        "is_live": any(one.is_live for one in comparisons),
        "decisions": model.decisions.all(),
        "card": card_of(model),
    }


def _forms(model: TrainedModel, given: dict[str, Any] | None = None) -> dict[str, Any]:
    known: dict[str, Alias] = {}
    if model.like:
        try:
            known = models_for_grading()
        except AliasError:
            known = {}
    problems = (given or {}).get("problems")
    is_comparable = bool(model.like) and ProblemSet.objects.exists()
    return {
        "toy_form": ToyForm((given or {}).get("toy"), model=model),
        "problems_form": ProblemsForm(problems, model=model, known=known) if is_comparable else None,
        "decision_form": DecisionForm(),
    }
