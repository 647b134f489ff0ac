"""Views of a problem's quality and difficulty, and of their summary on the problem's page."""

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from apps.accounts.models import User
from apps.graders.planning.plans import PlanWrong
from apps.graders.planning.shown import shown_of
from apps.preparation.contamination import collections_kept
from apps.preparation.quality import difficulty_spec, quality_spec, verdict_of
from apps.preparation.quality_forms import DifficultyForm, QualityForm
from apps.preparation.runs import is_any_live, problem_run_start, spec_estimate
from apps.preparation.views.pieces import aliases_known, problem_for
from apps.problems.models import Problem
from apps.reasoning.graders.registry import GRADERS
from apps.reasoning.scaffolds.estimates import Estimate
from apps.reasoning.scaffolds.spec import RunSpec


@require_http_methods(["GET", "HEAD", "POST"])
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """Show all results. A POST with `program` "quality" or "difficulty" starts a run, or with "estimate" shows its cost."""
    user, problem = problem_for(request, slug)
    aliases, trouble = aliases_known()
    asked = request.POST.get("program", "") if request.method == "POST" else ""
    flags = QualityForm(request.POST if asked == "quality" else None, aliases=aliases)
    difficulty = DifficultyForm(request.POST if asked == "difficulty" else None, aliases=aliases)
    forms: dict[str, QualityForm | DifficultyForm] = {"quality": flags, "difficulty": difficulty}
    form = forms.get(asked)
    estimate = None
    if form is not None and form.is_valid():
        try:
            answer = _started(request, user, problem, form)
            if isinstance(answer, HttpResponse):
                return answer
            estimate = answer
        except PlanWrong as error:
            form.add_error(None, str(error))
        except ValidationError as error:
            form.add_error(None, error)
    verdict = verdict_of(problem, user)
    context = {
        "problem": problem,
        "verdict": verdict,
        "flags_form": flags,
        "difficulty_form": difficulty,
        "asked": asked,
        "estimate": estimate,
        "trouble": trouble,
        "collections": collections_kept(),
        "is_live": is_any_live(verdict.quality.runs) or is_any_live(verdict.difficulty.runs),
        "graded_by": _grader_of(verdict.difficulty.run.spec) if verdict.difficulty.run else "",
    }
    template = "preparation/_quality_found.html" if "HX-Request" in request.headers else "preparation/quality.html"
    return render(request, template, context, status=422 if form is not None and form.errors else 200)


@require_GET
def quality_summary(request: HttpRequest, slug: str) -> HttpResponse:
    """The summary for the problem's page."""
    user, problem = problem_for(request, slug)
    return render(request, "preparation/_quality_summary.html", {"problem": problem, "verdict": verdict_of(problem, user)})


def _started(request: HttpRequest, user: User, problem: Problem, form: QualityForm | DifficultyForm) -> HttpResponse | Estimate:
    spec = _spec(problem, form)
    if "estimate" in request.POST:
        return spec_estimate(spec)
    problem_run_start(user=user, problem=problem, spec=spec, start_id=form.cleaned_data["start_id"])
    return redirect("preparation:quality", slug=problem.slug)


def _spec(problem: Problem, form: QualityForm | DifficultyForm) -> RunSpec:
    if isinstance(form, QualityForm):
        return quality_spec(problem, form.chosen()[""], form.cleaned_data["samples"])
    wanted = form.cleaned_data
    return difficulty_spec(problem, form.players(), wanted["attempts"], wanted["workflow"], wanted["by"])


def _grader_of(spec: dict[str, object]) -> str:
    params = spec.get("params")
    workflow = params.get("workflow") if isinstance(params, dict) else ""
    if not isinstance(params, dict) or workflow not in GRADERS:
        return ""
    return f"{GRADERS[workflow].title}, view: {shown_of(workflow, params).words}"
