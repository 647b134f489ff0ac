"""Help for a student: the formula check, hints, questions to coaches, comparing with a solution."""

import random
import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests.models import ContestProblem
from apps.practice import questions
from apps.practice.access import attempt_own_for, problem_helped_for, question_own_for
from apps.practice.attempts import attempt_of, versions_of
from apps.practice.coaching.sharing import examples_of
from apps.practice.forms import QuestionForm
from apps.practice.helping import comparing
from apps.practice.helping.formulas import (
    LIVE_LENGTH,
    CheckBusy,
    GraderFailed,
    remarks_from_check,
    settlements_checked,
    text_checked,
    version_checked,
)
from apps.practice.helping.hints import hint_take, hints_of
from apps.practice.helping.requests import remark_request
from apps.practice.helping.rules import HelpRefused, help_refusal, rules_of
from apps.practice.views.attempts import attempt_page, model_context
from apps.submissions.models import TextFormat
from apps.submissions.services import submission_of
from apps.ui.refusals import refusals_shown
from apps.ui.sent import whole_number

#: Least and greatest number of seconds after which a page asks a busy check again.
ASK_AGAIN_S = (3, 20)


@require_POST
def formulas(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """The findings of the formula check in the text of the editor. If it is busy, the page asks again."""
    _, problem = problem_helped_for(user_of(request), problem_id)
    text, text_format = request.POST.get("text", ""), request.POST.get("text_format", "")
    is_off = not rules_of(problem.contest).checks_formulas or bool(help_refusal(problem))
    if is_off or text_format not in TextFormat.values:
        return HttpResponse("")
    if len(text) > LIVE_LENGTH:
        return render(request, "practice/_formulas.html", {"longest": LIVE_LENGTH})
    try:
        found = text_checked(problem, text, text_format)
    except CheckBusy:
        # Hundreds of students write at once: their pages ask again one after another.
        return render(request, "practice/_formulas.html", {"wait_s": random.randint(*ASK_AGAIN_S), "problem": problem})  # noqa: S311
    except GraderFailed:
        return HttpResponse("")
    return render(request, "practice/_formulas.html", {"findings": found.findings})


@require_POST
def formulas_of_version(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """Check the formulas of a version: store what is false as remarks, and confirm claims about earlier ones."""
    version = attempt_own_for(user_of(request), version_id)
    problem = version.submission.problem
    with refusals_shown(request, HelpRefused):
        if refusal := help_refusal(problem):
            raise HelpRefused(refusal)
        if not rules_of(problem.contest).checks_formulas:
            raise HelpRefused("On this sheet, formulas are not checked.")
        try:
            settlements_checked(version)
            found = remarks_from_check(version)
        except CheckBusy as error:
            raise HelpRefused("The formula check is busy. Try again in a moment.") from error
        except GraderFailed as error:
            raise HelpRefused(f"{error} Nothing was stored; try again later.") from error
        if not found:
            messages.success(request, f"{version_checked(version).words} A formula that passes is not proved.")
    return redirect("practice:attempt", version_id=version_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def hints(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """The hints taken so far; POST takes the next one after an explanation."""
    paper, problem = problem_helped_for(user_of(request), problem_id)
    error = ""
    if request.method == "POST":
        level, step = whole_number(request.POST.get("level", ""), 1), whole_number(request.POST.get("step", ""), 5)
        try:
            words = request.POST.get("words", "").replace("\0", "")[:500]
            hint_take(paper=paper, problem=problem, level=level or 0, explanation=words, step=step or 0)
        except HelpRefused as refused:
            error = str(refused)
    return _hints(request, problem, error)


@require_POST
def ask(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """Ask the coaches about a version."""
    version = attempt_own_for(user_of(request), version_id)
    form = QuestionForm(version.steps.count(), request.POST)
    if not form.is_valid():
        return attempt_page(request, version, question_form=form, status=422)
    try:
        questions.question_ask(version=version, words=form.cleaned_data["words"], step=form.cleaned_data["step"] or 0)
    except HelpRefused as error:
        form.add_error("words", str(error))
        return attempt_page(request, version, question_form=form, status=422)
    messages.success(request, "Your coaches can see this version and your question. The answer appears here and on your path.")
    return redirect("practice:attempt", version_id=version_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def model(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """The state of the model's reading; POST asks for it."""
    version = attempt_own_for(user_of(request), version_id)
    if request.method != "POST":
        return render(request, "practice/_model.html", {"version": version, **model_context(version)})
    with refusals_shown(request, HelpRefused):
        remark_request(version=version)
    return redirect(f"{reverse('practice:attempt', args=[version_id])}#model-remarks")


@require_POST
def withdraw(request: HttpRequest, question_id: uuid.UUID) -> HttpResponse:
    """Withdraw a question that was not answered yet."""
    question = question_own_for(user_of(request), question_id)
    with refusals_shown(request, HelpRefused):
        questions.question_withdraw(question=question)
        messages.success(request, "Your question is withdrawn.")
    return redirect("practice:attempt", version_id=question.version.public_id)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def compare(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """The own steps next to a solution, of which POST opens one more step."""
    version = attempt_own_for(user_of(request), version_id)
    submission = version.submission
    if request.method == "POST":
        with refusals_shown(request, HelpRefused):
            comparing.step_show(submission=submission, shown=whole_number(request.POST.get("shown", ""), 4) or 0)
        return redirect("practice:compare", version_id=version_id)
    refusal = comparing.refusal_of(submission)
    attempt = attempt_of(submission)
    solutions = [] if refusal else comparing.solutions_shown(submission, attempt)
    context = {
        "version": version,
        "has_more": any(one.left for one in solutions),
        "problem": submission.problem,
        "contest": submission.paper.contest,
        "steps": version.steps.select_related("version"),
        "refusal": refusal,
        "attempt": attempt,
        "examples": [] if refusal else examples_of(submission.problem.problem, without=version),
        "solutions": solutions,
    }
    return render(request, "practice/compare.html", context)


def _hints(request: HttpRequest, problem: ContestProblem, error: str) -> HttpResponse:
    paper, _ = problem_helped_for(user_of(request), problem.public_id)
    submission = submission_of(paper, problem)
    newest = versions_of(submission)[-1:] if submission.pk else []
    context = {
        "problem": problem,
        "contest": problem.contest,
        "hints": hints_of(problem, submission),
        "error": error,
        "newest": newest[0] if newest else None,
    }
    name = "practice/_hints.html" if "HX-Request" in request.headers else "practice/hints.html"
    return render(request, name, context, status=422 if error and "HX-Request" not in request.headers else 200)
