"""Start of a run: the form, its estimate, forks, and the worked example."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.explorations.services import exploration_fork, plan_start, worked_example_start
from apps.explorations.starting.forms import ExplorationForm, initial_from
from apps.explorations.starting.given import given_of
from apps.explorations.starting.plans import Plan, plan_of_spec, problem_text, usable_aliases
from apps.explorations.views.shared import run_of
from apps.problems.access import problem_get_for
from apps.problems.models import Problem, ProblemVersion
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.inference.aliases import Alias
from apps.reasoning.programs.registry import SCAFFOLDS
from apps.reasoning.scaffolds.spec import RunSpec
from apps.runs.access import run_may_start
from apps.runs.models import Run


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """The start form of a problem. A valid form starts the run and opens its page."""
    problem = _problem(request, slug)
    aliases, trouble = _aliases()
    initial = {"alias": next(iter(aliases), ""), **_asked(request, aliases)}
    form = ExplorationForm(request.POST or None, aliases=aliases, initial=initial, **_about(request, problem.current))
    if request.method == "POST" and form.is_valid():
        try:
            run = plan_start(user=user_of(request), problem=problem, plan=form.plan(), start_id=form.cleaned_data["start_id"])
        except (ValidationError, AliasError) as error:
            form.add_error(None, error if isinstance(error, ValidationError) else str(error))
        else:
            return redirect("explorations:run_detail", run_id=run.public_id)
    return _form_page(request, form, problem, trouble)


@require_http_methods(["GET", "HEAD", "POST"])
def fork(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The start form with the values of a run. The fork takes over calls with equal requests."""
    run, user = run_of(request, run_id), user_of(request)
    if not run_may_start(user) or run.is_authored or not run.is_attempt:
        raise Http404("This run cannot be forked.")
    aliases, trouble = _aliases()
    initial = initial_from(_plan_of(run)) | _asked(request, aliases)
    form = ExplorationForm(request.POST or None, aliases=aliases, initial=initial, **_about(request, run.problem_version))
    if request.method == "POST" and form.is_valid():
        try:
            made = exploration_fork(user=user, run=run, plan=form.plan(), start_id=form.cleaned_data["start_id"])
        except (ValidationError, AliasError) as error:
            form.add_error(None, error if isinstance(error, ValidationError) else str(error))
        else:
            return redirect("explorations:run_detail", run_id=made.public_id)
    return _form_page(request, form, run.problem_version.problem, trouble, run=run)


@require_POST
def estimate(request: HttpRequest, slug: str) -> HttpResponse:
    """The estimate for the current form; with a new preset also the parameter fields."""
    problem = _problem(request, slug)
    aliases, _ = _aliases()
    form = ExplorationForm(request.POST, aliases=aliases, **_about(request, problem.current))
    form.is_valid()
    context: dict[str, Any] = {"form": form, "problem": problem, "is_part": True}
    if form.data.get("preset") != form.data.get("shown_preset"):
        context["fresh"] = _with_new_preset(form, aliases)
    return render(request, "explorations/_estimate.html", context)


@require_POST
def worked_example(request: HttpRequest) -> HttpResponse:
    """Play the worked example in a new run and open its page."""
    if not run_may_start(user_of(request)):
        raise Http404("There is no such page.")
    try:
        run = worked_example_start(user=user_of(request), start_id=_start_id(request))
    except ValidationError as error:
        raise Http404 from error
    except AliasError as error:
        messages.error(request, f"The worked example cannot be played: {error}")
        return redirect("home")
    return redirect("explorations:run_detail", run_id=run.public_id)


def _start_id(request: HttpRequest) -> uuid.UUID | None:
    try:
        return uuid.UUID(request.POST.get("start_id", ""))
    except ValueError:
        return None


def _plan_of(run: Run) -> Plan:
    """The plan of the run; for a run of an older version only its readable part."""
    try:
        return plan_of_spec(RunSpec.model_validate(run.spec))
    except ValueError:
        return Plan(run.scaffold, run.preset)


def _with_new_preset(form: ExplorationForm, aliases: dict[str, Alias]) -> ExplorationForm:
    """A form with the parameters of the chosen preset and the user's changes."""
    initial: dict[str, Any] = {name: form.data.get(name) for name in ("scaffold", "preset")}
    initial |= {f"p_{name}": value for name, value in form.overrides().items()}
    return ExplorationForm(aliases=aliases, initial=initial, problem=form.problem, given=form.given)


def _problem(request: HttpRequest, slug: str) -> Problem:
    user = user_of(request)
    if not run_may_start(user):
        raise Http404("There is no such page.")
    return problem_get_for(user, slug)


def _aliases() -> tuple[dict[str, Alias], str]:
    """The models to choose from, or none and the reason."""
    try:
        aliases = usable_aliases()
    except AliasError as error:
        return {}, str(error)
    return (
        aliases,
        "" if aliases else "models.toml has no enabled model. Add one (docs/models.md), then load this page again.",
    )


def _form_page(request: HttpRequest, form: ExplorationForm, problem: Problem, trouble: str, **more: Any) -> HttpResponse:
    if not form.is_bound:
        probe = ExplorationForm(_as_posted(form), aliases=form.aliases, problem=form.problem, given=form.given)
        probe.is_valid()
        form.estimate, form.duration, form.is_large = probe.estimate, probe.duration, probe.is_large
        form.weak_roles = probe.weak_roles
        form.refused = probe.refused
    warning = form.refused or (form.method.warn_of(form.problem) if form.problem else "")
    context = {
        "form": form,
        "problem": problem,
        "version": problem.current,
        "trouble": trouble,
        "scaffold_warning": warning,
        **more,
    }
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "explorations/exploration_start.html", context, status=status)


def _about(request: HttpRequest, version: ProblemVersion | None) -> dict[str, Any]:
    """Data of the problem for the form."""
    if version is None:
        return {}
    return {"problem": problem_text(version), "given": given_of(version.problem, user_of(request))}


def _asked(request: HttpRequest, aliases: dict[str, Alias]) -> dict[str, Any]:
    """Initial values from the address: a scaffold, or an available model."""
    known: dict[str, Any] = {"scaffold": SCAFFOLDS, "alias": aliases}
    return {name: value for name, values in known.items() if (value := request.GET.get(name, "")) in values}


def _as_posted(form: ExplorationForm) -> dict[str, Any]:
    """The data of the unchanged form, for the first estimate."""
    values = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in values.items() if value is not None and value is not False}
