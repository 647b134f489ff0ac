"""Feedback by rungs: requests and hints for authors, answers by coaches, and the rules."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests.access import coached_get_for
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.feedback.ladder import OPEN_BY_DEFAULT, RUNGS, TOP, Rules, Track
from apps.reasoning.hints.material import WRITTEN_AT_MOST
from apps.results import feedback, proposals
from apps.results.access import problem_coached_for, request_answered_for, request_own_for, version_own_for
from apps.results.forms import AskForm, HintForm, RequestForm, RulesForm
from apps.results.hint_material import text_shown
from apps.results.models import FeedbackRequest, FeedbackRules, HintProposal, ProposalState, RungAsked
from apps.results.proposing import models_for_hints
from apps.submissions.models import SubmissionVersion
from apps.ui.refusals import refusals_shown


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def own(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """The hints on a text, and the form for the first request."""
    version = version_own_for(user_of(request), version_id)
    form = RequestForm(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        return _own(request, version, form)
    if not form.is_valid():
        return _own(request, version, form, status=422)
    try:
        feedback.request_open(version=version, **form.cleaned_data)
    except feedback.FeedbackRefused as error:
        form.add_error(None, str(error))
        return _own(request, version, form, status=422)
    messages.success(request, "Your coaches can see your question. The first hint will appear here.")
    return redirect("results:feedback_own", version_id=version_id)


@require_POST
def ask(request: HttpRequest, request_id: uuid.UUID, level: int) -> HttpResponse:
    """Ask for the next hint."""
    asked = request_own_for(user_of(request), request_id)
    form = AskForm(request.POST)
    with refusals_shown(request, feedback.FeedbackRefused):
        if not form.is_valid():
            raise feedback.FeedbackRefused("Your answer is too long. Shorten it and ask again.")
        feedback.rung_ask(request=asked, level=level, **form.cleaned_data)
    return redirect("results:feedback_own", version_id=asked.version.public_id)


@never_cache
@require_GET
def queue(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Waiting hints, numbers of given hints, and the rules of each problem."""
    user = user_of(request)
    contest = coached_get_for(user, contest_id)
    rows = [(one, feedback.rung_of(one)) for one in feedback.requests_open(contest, user)]
    names = _models()
    rules = [(problem, _rules_form(problem.pk, feedback.rules_of(problem), names)) for problem in contest.problems.all()]
    context = {
        "contest": contest,
        "rows": rows,
        "rules": rules,
        "used": feedback.hints_used(contest),
        "rungs": list(zip(RUNGS[Track.REPAIR], RUNGS[Track.STUCK], strict=True)),
        "above": OPEN_BY_DEFAULT,
        "written_at_most": WRITTEN_AT_MOST,
    }
    return render(request, "results/feedback_queue.html", context)


@require_POST
def rules_save(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Save how far the hints of a problem go."""
    user = user_of(request)
    problem = problem_coached_for(user, problem_id)
    form = RulesForm(request.POST, models=_models())
    if form.is_valid():
        values = form.cleaned_data
        rules = Rules(**{name: values[name] for name in Rules.model_fields})
        chosen = {name: values[name] for name in ("is_on", "writer", "guesser")}
        feedback.rules_save(problem=problem, rules=rules, by=user, **chosen)
        messages.success(request, f"Saved for problem {problem.label}.")
    else:
        messages.error(request, " ".join(f"{form[name].label}: {errors[0]}" for name, errors in form.errors.items()))
    return redirect("results:feedback_queue", contest_id=problem.contest.public_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def answer(request: HttpRequest, request_id: uuid.UUID) -> HttpResponse:
    """A request for a coach: the text, the hints so far, and the editor for the next one."""
    user = user_of(request)
    found = request_answered_for(user, request_id)
    feedback.hints_shown(request=found, to=user)
    waiting = found.asked.filter(given_at=None).first()
    if request.method != "POST":
        return _answer(request, found, waiting, _hint_form(proposals.proposal_of(waiting)))
    if waiting is None:
        raise Http404("No hint is requested at the moment.")
    form = HintForm(request.POST)
    if not form.is_valid():
        return _answer(request, found, waiting, form, status=422)
    try:
        feedback.rung_give(asked=waiting, by=user, **form.cleaned_data)
    except feedback.HintLeaks as error:
        return _answer(request, found, waiting, form, leaks=error.leaks, status=422)
    except feedback.FeedbackRefused as error:
        form.add_error(None, str(error))
        return _answer(request, found, waiting, form, status=422)
    messages.success(request, "The student can see the hint now.")
    return redirect("results:feedback_queue", contest_id=found.version.submission.paper.contest.public_id)


@require_POST
def proposal(request: HttpRequest, request_id: uuid.UUID, verb: str) -> HttpResponse:
    """Decline a model's proposal (`decline`), or request another (`again`)."""
    user = user_of(request)
    found = request_answered_for(user, request_id)
    waiting = found.asked.filter(given_at=None).first()
    proposed = proposals.proposal_of(waiting)
    with refusals_shown(request, proposals.ProposalRefused):
        if verb == "again" and waiting is not None:
            rules = feedback.rules_of(found.version.submission.problem)
            proposals.proposal_again(rung=waiting, rules=rules, by=user)
            messages.success(request, "The model is writing another proposal.")
        elif verb == "decline" and proposed is not None:
            proposals.proposal_decline(proposal=proposed, by=user)
            messages.success(request, "The proposal is declined.")
        else:
            raise Http404("There is no such proposal.")
    return redirect("results:feedback_answer", request_id=request_id)


def _own(request: HttpRequest, version: SubmissionVersion, form: RequestForm, status: int = 200) -> HttpResponse:
    requests = list(feedback.requests_of(version))
    refusal = feedback.request_refusal(version)
    context = {
        "contest": version.submission.paper.contest,
        "problem": version.submission.problem,
        "version": version,
        "ladders": [feedback.ladder_of(one) for one in requests],
        "refusal": refusal,
        "may_request": not refusal and not any(one.version_id == version.pk and one.ended_at is None for one in requests),
        "form": form,
        "ask_form": AskForm(),
        "is_proposed": bool(feedback.rules_of(version.submission.problem).writer),
    }
    return render(request, "results/feedback_own.html", context, status=status)


def _answer(
    request: HttpRequest,
    found: FeedbackRequest,
    waiting: RungAsked | None,
    form: HintForm,
    leaks: tuple[object, ...] = (),
    status: int = 200,
) -> HttpResponse:
    version, shown = found.version, text_shown(found)
    rules = feedback.rules_of(version.submission.problem)
    titles = RUNGS[Track(found.track)]
    context = {
        "contest": version.submission.paper.contest,
        "problem": version.submission.problem,
        "paper": version.submission.paper,
        "request_asked": found,
        "shown": shown,
        "steps": shown.steps.select_related("version"),
        "asked": [(one, titles[one.level]) for one in found.asked.all()],
        "waiting": waiting,
        "held": proposals.HELD if proposals.is_held(found) else "",
        "rung": feedback.rung_of(waiting) if waiting else None,
        "sources": feedback.sources_of(waiting) if waiting else (),
        "is_top": waiting is not None and waiting.level == TOP,
        "form": form,
        "leaks": leaks,
        "proposal": proposals.proposal_of(waiting),
        "may_propose": bool(rules.writer) and waiting is not None and waiting.level <= WRITTEN_AT_MOST,
    }
    return render(request, "results/feedback_answer.html", context, status=status)


def _hint_form(proposed: HintProposal | None) -> HintForm:
    """The editor, filled with a model's proposal if one waits for approval."""
    if proposed is None or proposed.state != ProposalState.READY:
        return HintForm()
    return HintForm(initial={"text": proposed.text, "proposal": proposed.public_id})


def _rules_form(key: int, rules: FeedbackRules, models: dict[str, str]) -> RulesForm:
    names = ("is_on", "highest", "budget", "first_wait", "later_wait", "writer", "guesser")
    kept = {name: f"{name} (not in models.toml now)" for name in (rules.writer, rules.guesser) if name and name not in models}
    initial = {name: getattr(rules, name) for name in names}
    return RulesForm(initial=initial, auto_id=f"rules-{key}-%s", models={**models, **kept})


def _models() -> dict[str, str]:
    """The models that coaches can choose, by name; empty if models.toml cannot be read."""
    try:
        return {name: alias.title for name, alias in models_for_hints().items()}
    except AliasError:
        return {}
