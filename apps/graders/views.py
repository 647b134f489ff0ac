"""Views for grading a pasted script, and for the result with findings at steps."""

import uuid

from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.access import user_allowed, user_of
from apps.graders.forms import GradingForm
from apps.graders.planning.naming import variant_asked
from apps.graders.planning.plans import PlanWrong
from apps.graders.problem_pages import page_of
from apps.graders.results import result_of
from apps.graders.starting import grading_estimate, grading_start, job_of, models_for_grading
from apps.problems.access import problem_get_for
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.graders.registry import GRADERS
from apps.runs.access import run_get_for, run_may_start


@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form. A POST with "estimate" shows the cost; any other starts the run and redirects to its page."""
    user = user_allowed(request, run_may_start)
    problem = problem_get_for(user, slug)
    trouble = ""
    try:
        aliases = models_for_grading()
    except AliasError as error:
        aliases, trouble = {}, str(error)
    form = GradingForm(request.POST or None, aliases=aliases)
    estimate, basis = None, ""
    if request.method == "POST" and form.is_valid():
        script = form.cleaned_data["script"]
        try:
            plan = form.plan()
            if "estimate" in request.POST:
                estimate, basis = grading_estimate(plan, job_of(problem, script))
            else:
                start_id = form.cleaned_data["start_id"]
                run = grading_start(user=user, problem=problem, plan=plan, script=script, start_id=start_id)
                return redirect("graders:detail", run_id=run.public_id)
        except PlanWrong as error:
            form.add_error(None, str(error).removeprefix("The script: "))
        except ValidationError as error:
            form.add_error(None, error)
    context = {
        "form": form,
        "problem": problem,
        "version": problem.current,
        "graders": GRADERS.values(),
        "estimate": estimate,
        "basis": basis,
        "trouble": trouble,
    }
    return render(request, "graders/start.html", context)


@require_GET
def detail(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Show the result or progress of a grading; for htmx only the changing part."""
    run = run_get_for(user_of(request), run_id)
    if run.is_about_problem:
        return redirect(page_of(run))
    if not run.is_grading:
        raise Http404("This run is not a grading.")
    context = {"run": run, "result": result_of(run), "variant": variant_asked(run.scaffold, run.spec["params"])}
    return render(request, "graders/_result.html" if "HX-Request" in request.headers else "graders/detail.html", context)
