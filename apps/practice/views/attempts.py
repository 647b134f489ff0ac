"""A student's pages: the path, trying a problem, an attempt with its remarks, and the student's decisions."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.contests.models import ContestKind
from apps.contests.windows import writing_refusal
from apps.practice import attempts, questions
from apps.practice.access import attempt_own_for, problem_helped_for
from apps.practice.forms import QuestionForm
from apps.practice.helping import comparing
from apps.practice.helping.formulas import make_ready
from apps.practice.helping.requests import request_refusal
from apps.practice.helping.rules import rules_of
from apps.practice.models import Question, RemarkOrigin, RemarkRequest
from apps.practice.path import path_of
from apps.practice.shown import steps_shown, unsettled_before
from apps.practice.story import changes_between, story_of
from apps.problems.access import library_of, problem_get_for
from apps.submissions.models import SubmissionVersion

DECISIONS = {"aside": attempts.set_aside, "again": attempts.take_up, "done": attempts.call_done}


@never_cache
@require_GET
def path_page(request: HttpRequest) -> HttpResponse:
    """The student's path: answers, what waits, what comes back, all attempts, and problems that fit."""
    user = user_of(request)
    context = {"path": path_of(user), "wait": questions.typical_wait(ContestKind.PRACTICE)}
    return render(request, "practice/path.html", context)


@require_POST
def problem_try(request: HttpRequest, slug: str) -> HttpResponse:
    """Begin or continue the own attempt at a problem of the library."""
    user = user_of(request)
    problem = problem_get_for(user, slug)
    if not library_of(user).filter(pk=problem.pk).exists():
        raise Http404("There is no such problem.")
    row = attempts.problem_try(person=user, problem=problem)
    make_ready()
    return redirect("submissions:write", problem_id=row.public_id)


@never_cache
@require_GET
def attempt(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """A handed-in version with its remarks, and the ways to get help."""
    version = attempt_own_for(user_of(request), version_id)
    attempts.see(version.submission)
    return attempt_page(request, version)


@require_POST
def decide(request: HttpRequest, problem_id: uuid.UUID, verb: str) -> HttpResponse:
    """Set the problem aside, take it up again, call it done, lend the text as an example (`lend`, `keep`), end its sharing."""
    paper, problem = problem_helped_for(user_of(request), problem_id)
    if verb in DECISIONS:
        DECISIONS[verb](paper=paper, problem=problem)
    elif verb in ("lend", "keep"):
        attempts.lend(paper=paper, problem=problem, allows=verb == "lend")
    elif verb == "unshare":
        questions.sharing_end(paper=paper, problem=problem)
        messages.success(request, "Coaches no longer read this text. What they wrote to you stays.")
    else:
        raise Http404("There is no such page.")
    if verb == "again":
        return redirect("submissions:write", problem_id=problem_id)
    if verb in ("lend", "keep", "unshare") and (
        newest := problem.submissions.get(paper=paper).versions.order_by("-number").first()
    ):
        return redirect("practice:attempt", version_id=newest.public_id)
    return redirect("practice:path")


def model_context(version: SubmissionVersion) -> dict[str, Any]:
    """The state of a model's reading of a version, for `practice/_model.html`."""
    remark = version.remarks.filter(origin=RemarkOrigin.MODEL).first()
    return {
        "rules": rules_of(version.submission.paper.contest),
        "model_request": RemarkRequest.objects.filter(version=version).first(),
        "model_refusal": request_refusal(version),
        "model_step": remark.step if remark is not None else 0,
    }


def attempt_page(
    request: HttpRequest, version: SubmissionVersion, *, question_form: QuestionForm | None = None, status: int = 200
) -> HttpResponse:
    """Render an attempt for its author; a rejected question keeps its words."""
    submission = version.submission
    problem, contest = submission.problem, submission.paper.contest
    versions = list(submission.versions.order_by("-number"))
    newest = next((one for one in versions if one.withdrawn_at is None), versions[0])
    older = next((one for one in versions if one.number < version.number and one.withdrawn_at is None), None)
    steps = steps_shown(version)
    rules = rules_of(contest)
    context: dict[str, Any] = {
        "version": version,
        "newest": newest,
        "problem": problem,
        "contest": contest,
        "is_practice": contest.kind == ContestKind.PRACTICE,
        "steps": steps,
        "questions": Question.objects.filter(version=version, withdrawn_at=None),
        "ask_refusal": questions.ask_refusal(version),
        "question_form": question_form or QuestionForm(len(steps.rows)),
        "wait": questions.typical_wait(ContestKind(contest.kind)),
        "is_shared": submission.shares.exists(),
        "readers": questions.readers_of(submission),
        "compare_refusal": comparing.refusal_of(submission),
        "rules": rules,
        **model_context(version),
        "is_checked": version.remarks.filter(origin=RemarkOrigin.FORMULA).exists(),
        "earlier": unsettled_before(version),
        "older": older,
        "changes": changes_between(older, version) if older is not None else [],
        "story": story_of(submission),
        "attempt": attempts.attempt_of(submission),
        "refusal": writing_refusal(problem),
    }
    return render(request, "practice/attempt.html", context, status=status)
