"""Views of marking schemes written by a model: the writer of a problem, and one proposal with its try-outs."""

import uuid

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.graders.planning.plans import PlanWrong
from apps.graders.references import references_of
from apps.preparation.forms import texts_split
from apps.preparation.proposal_forms import ProposalForm, WriterForm
from apps.preparation.proposals import ProposalWrong, proposal_approve, proposal_of, scripts_offered, tryouts_start
from apps.preparation.runs import is_any_live, problem_run_start, problem_spec, runs_about, spec_estimate
from apps.preparation.views.pieces import aliases_known, problem_for
from apps.problems.access import solutions_of_may_read
from apps.reasoning.graders.registry import PREPARERS
from apps.reasoning.marking.schemes.faults import FormWrong
from apps.runs.access import run_get_for, run_may_start
from apps.runs.models import Run
from apps.schemes.sheets import STEPS, sheet_of_text

WRITER = "scheme_writer"


@require_http_methods(["GET", "HEAD", "POST"])
def scheme_writer(request: HttpRequest, slug: str) -> HttpResponse:
    """List a problem's proposals. A POST with "estimate" shows the cost of another one; any other starts one."""
    user, problem = problem_for(request, slug)
    aliases, trouble = aliases_known()
    form = WriterForm(request.POST or None, aliases=aliases)
    estimate = None
    if request.method == "POST" and form.is_valid():
        try:
            spec = problem_spec(PREPARERS[WRITER], problem.current, form.chosen())
            if "estimate" in request.POST:
                estimate = spec_estimate(spec)
            else:
                run = problem_run_start(user=user, problem=problem, spec=spec, start_id=form.cleaned_data["start_id"])
                return redirect("preparation:proposal", run_id=run.public_id)
        except PlanWrong as error:
            form.add_error(None, str(error))
        except ValidationError as error:
            form.add_error(None, error)
    runs = runs_about(problem, WRITER)
    context = {
        "problem": problem,
        "form": form,
        "estimate": estimate,
        "trouble": trouble,
        "proposals": [proposal_of(run) for run in runs],
        "references": len(references_of(problem)),
        "is_live": is_any_live(runs),
    }
    return render(request, "preparation/scheme_writer.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def proposal(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Show one proposal. A POST with `action` "try" or "approve" does so; any other checks the text and shows it."""
    user, run = _run_for(request, run_id)
    aliases, trouble = aliases_known()
    offered = scripts_offered(run.problem_version.problem)
    choices = [(str(one.public_id), f"{one.graded_set.title}: {one.name}, points by people: {given}") for one, given in offered]
    data = request.POST if request.method == "POST" else None
    form = ProposalForm(data, aliases=aliases, offered=choices)
    found = proposal_of(run)
    if data is not None and form.is_valid() and (answer := _act(request, user, run, form)) is not None:
        return answer
    if "HX-Request" in request.headers and "wait" in request.GET:
        return HttpResponse(status=204, headers={} if run.is_live else {"HX-Refresh": "true"})
    if "HX-Request" in request.headers and data is None:
        return render(request, "preparation/_scheme_tryouts.html", {"proposal": found})
    text = data.get("text", "") if data else found.latest
    if data is None:
        form = ProposalForm(initial={"text": text}, aliases=aliases, offered=choices)
    context = {
        "run": run,
        "problem": run.problem_version.problem,
        "proposal": found,
        "form": form,
        "sheet": sheet_of_text(text, QueryDict()),
        "steps": STEPS,
        "trouble": trouble,
        "offered": offered,
    }
    return render(request, "preparation/scheme_proposal.html", context, status=422 if form.errors else 200)


def _act(request: HttpRequest, user: User, run: Run, form: ProposalForm) -> HttpResponse | None:
    """Execute the requested action; None without one, or after a refusal, which is added to the form."""
    action, text = request.POST.get("action", ""), form.cleaned_data["text"]
    try:
        if action == "try":
            chosen = set(form.cleaned_data["scripts"])
            scripts = [one for one, _ in scripts_offered(run.problem_version.problem) if str(one.public_id) in chosen]
            pasted = texts_split(form.cleaned_data["pasted"])
            alias = form.aliases[form.cleaned_data["alias"]]
            made = tryouts_start(user=user, run=run, text=text, alias=alias, pasted=pasted, scripts=scripts)
            messages.success(request, f"Try-out started on {len(made)} text{'s' * (len(made) != 1)}.")
            return redirect("preparation:proposal", run_id=run.public_id)
        if action == "approve":
            title = form.cleaned_data["title"].strip() or "Written by a model"
            scheme = proposal_approve(user=user, run=run, text=text, title=title)
            messages.success(request, "Approved as a draft. Activate the scheme to mark with it.")
            return redirect("schemes:detail", scheme_id=scheme.public_id)
    except (ProposalWrong, FormWrong, PlanWrong) as error:
        form.add_error(None, str(error))
    return None


def _run_for(request: HttpRequest, run_id: uuid.UUID) -> tuple[User, Run]:
    """The user, and a scheme writer's run on a problem whose solutions the user may read. Raises `Http404`."""
    user = user_of(request)
    run = run_get_for(user, run_id)
    if run.scaffold != WRITER or not run_may_start(user) or not solutions_of_may_read(user, run.problem_version.problem):
        raise Http404("There is no such proposal.")
    return user, run
