"""A coach's pages: the queue, the answer to a version, and the rules of help of a sheet."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.contests.access import organised_get_for
from apps.contests.models import ContestKind
from apps.practice import questions, remarks
from apps.practice.access import answerer_of, author_shown, remark_answered_for, version_answered_for
from apps.practice.attempts import attempt_of
from apps.practice.coaching.queue import PRACTICE, courses_of, next_version, queue_rows
from apps.practice.forms import AnswerForm, DecisionForm, HelpRulesForm, RemarkForm
from apps.practice.helping.rules import HelpRefused, help_refusal, rules_of, rules_save
from apps.practice.models import AnswerPhrase, Example, HintTaken, Question
from apps.practice.shown import steps_shown, unsettled_before
from apps.problems.access import solutions_of_may_read
from apps.problems.models import Topic
from apps.reasoning.domain.errors import AliasError
from apps.reasoning.texts.segmentation import segment
from apps.results.proposing import models_for_hints
from apps.submissions.models import SubmissionVersion
from apps.ui.refusals import refusals_shown
from apps.ui.sent import uuid_of


@never_cache
@require_GET
def queue(request: HttpRequest) -> HttpResponse:
    """Everything that waits for this coach, oldest first, by course and topic."""
    user = answerer_of(request)
    course, topic = request.GET.get("course", ""), request.GET.get("topic", "")
    course = course if course == PRACTICE or uuid_of(course) else ""
    topic = topic if topic in Topic.values else ""
    context = {
        "rows": queue_rows(user, course=course, topic=topic),
        "course": course,
        "topic": topic,
        "courses": courses_of(user),
        "topics": Topic.choices,
        "wait": questions.typical_wait(),
        "phrases": AnswerPhrase.objects.filter(owner=user),
    }
    return render(request, "practice/queue.html", context)


@never_cache
@require_GET
def next_one(request: HttpRequest) -> HttpResponse:
    """The version that has waited longest, or the one that follows `?after=` in the queue; the queue if nothing waits."""
    user = answerer_of(request)
    asked = uuid_of(request.GET.get("after", ""))
    after = version_answered_for(user, asked) if asked else None
    version = next_version(user, after=after)
    return redirect("practice:answer", version_id=version.public_id) if version else redirect("practice:queue")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def answer(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """A version with its question; POST answers it and continues with the next one."""
    user = answerer_of(request)
    version = version_answered_for(user, version_id)
    question = questions.open_question(version)
    if request.method != "POST":
        return _page(request, version, AnswerForm())
    form = AnswerForm(request.POST)
    if question is None:
        messages.error(request, "This question was answered meanwhile, or the student withdrew it.")
        return redirect("practice:answer", version_id=version_id)
    if not form.is_valid():
        return _page(request, version, form, status=422)
    try:
        questions.question_answer(question=question, by=user, **form.cleaned_data)
    except HelpRefused as error:
        form.add_error(None, str(error))
        return _page(request, version, form, status=422)
    messages.success(request, "The student can read your answer now.")
    following = next_version(user, after=version)
    return redirect("practice:answer", version_id=following.public_id) if following else redirect("practice:queue")


@require_POST
def remark(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """Add a remark at a step."""
    user = answerer_of(request)
    version = version_answered_for(user, version_id)
    form = RemarkForm(request.POST)
    with refusals_shown(request, HelpRefused):
        if not form.is_valid():
            raise HelpRefused("Not saved: " + " ".join(str(one) for errors in form.errors.values() for one in errors))
        remarks.remark_add(version=version, by=user, **form.cleaned_data)
    step = form.cleaned_data.get("step") or 0 if form.is_valid() else 0
    return redirect(f"{_url(version)}#step-{step}")


@require_POST
def decide(request: HttpRequest, remark_id: uuid.UUID, verb: str) -> HttpResponse:
    """Decide a disagreement (`dispute`) or a `claim`, judge a model's remark (`right`, `wrong`), or `remove` an own remark."""
    user = answerer_of(request)
    found = remark_answered_for(user, remark_id)
    form = DecisionForm(request.POST)
    version = found.version
    with refusals_shown(request, HelpRefused):
        if verb in ("right", "wrong"):
            remarks.remark_judge(remark=found, judged=verb, by=user)
        elif verb == "remove":
            remarks.remark_remove(remark=found, by=user)
        elif verb == "dispute" and hasattr(found, "disagreement") and form.is_valid():
            values = form.cleaned_data
            remarks.disagreement_answer(
                disagreement=found.disagreement, is_upheld=values["holds"], reply=values["reply"], by=user
            )
        elif verb == "claim" and hasattr(found, "settlement") and form.is_valid():
            version = found.settlement.version
            remarks.settlement_decide(settlement=found.settlement, holds=form.cleaned_data["holds"], by=user)
        else:
            raise Http404("There is no such page.")
    return redirect("practice:answer", version_id=version.public_id)


@require_http_methods(["GET", "HEAD", "POST"])
def rules(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """The rules of help of a sheet, for its organisers."""
    user = user_of(request)
    contest = organised_get_for(user, contest_id)
    if contest.kind != ContestKind.SHEET:
        raise Http404("There is no such page.")
    kept = rules_of(contest)
    initial = {name: getattr(kept, name) for name in HelpRulesForm.base_fields}
    sent = request.POST if request.method == "POST" else None
    form = HelpRulesForm(sent, initial=initial, models=_models(), chosen=kept.model)
    if request.method == "POST" and form.is_valid():
        rules_save(contest=contest, by=user, **form.cleaned_data)
        messages.success(request, "The rules of help are saved.")
        return redirect("contests:detail", contest_id=contest_id)
    context = {"contest": contest, "form": form}
    return render(request, "practice/rules.html", context, status=422 if form.errors else 200)


def _page(request: HttpRequest, version: SubmissionVersion, form: AnswerForm, status: int = 200) -> HttpResponse:
    user = user_of(request)
    submission = version.submission
    problem = submission.problem
    may_read = solutions_of_may_read(user, problem.problem)
    solutions = list(problem.problem.reference_solutions.all()) if may_read else []
    context: dict[str, Any] = {
        "version": version,
        "problem": problem,
        "contest": submission.paper.contest,
        "is_practice": submission.paper.contest.kind == ContestKind.PRACTICE,
        "paper": submission.paper,
        "author": author_shown(user, version),
        "steps": steps_shown(version),
        "earlier": unsettled_before(version),
        "question": questions.open_question(version),
        "answered": Question.objects.filter(version__submission=submission, answered_at__isnull=False).select_related(
            "version"
        ),
        "hints": HintTaken.objects.filter(submission=submission),
        "form": form,
        "remark_form": RemarkForm(auto_id=False),
        "phrases": AnswerPhrase.objects.filter(owner=user),
        "solutions": solutions,
        "reference_steps": [
            (number, solutions[0].text[one.start : one.end][:80]) for number, one in enumerate(segment(solutions[0].text), 1)
        ]
        if solutions
        else [],
        "held": help_refusal(problem),
        "attempt": attempt_of(submission),
        "example": Example.objects.filter(version=version).first(),
        "versions": submission.versions.filter(withdrawn_at=None).order_by("number"),
    }
    return render(request, "practice/answer.html", context, status=status)


def _models() -> dict[str, str]:
    try:
        return {name: alias.title for name, alias in models_for_hints().items()}
    except AliasError:
        return {}


def _url(version: SubmissionVersion) -> str:
    return reverse("practice:answer", args=[version.public_id])
