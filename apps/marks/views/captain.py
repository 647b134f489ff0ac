"""The captain's queue: questions of markers about scripts of a problem, and their answers."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.marks.access import problem_captained_for
from apps.marks.workspace import passes
from apps.marks.workspace.questions import question_get_for, questions_shown
from apps.ui.refusals import refusals_shown


@never_cache
@require_GET
def question_list(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """The questions on a problem that the reader may see, unanswered ones first."""
    user = user_of(request)
    problem = problem_captained_for(user, problem_id)
    context = {"problem": problem, "contest": problem.contest, "questions": questions_shown(user, problem)}
    return render(request, "marks/questions.html", context)


@require_POST
def question_answer(request: HttpRequest, pass_id: int) -> HttpResponse:
    """Answer a question."""
    user = user_of(request)
    question = question_get_for(user, pass_id)
    with refusals_shown(request, passes.PassRefused):
        passes.question_answer(question=question, by=user, words=request.POST.get("answer", ""))
    return redirect("marks:questions", problem_id=question.task.case.problem.public_id)
