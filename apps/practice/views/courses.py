"""Pages over many attempts: common errors, examples, phrases, figures of models; and a person's own data."""

import uuid

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_allowed, user_of
from apps.accounts.models import User
from apps.practice import own_data
from apps.practice.access import answerer_of, version_answered_for
from apps.practice.coaching import figures, sharing
from apps.practice.coaching.queue import PRACTICE, sheets_coached
from apps.practice.helping.rules import HelpRefused
from apps.practice.models import SHORT_LENGTH
from apps.problems.access import solutions_of_may_read
from apps.reasoning.texts.segmentation import segment
from apps.ui.refusals import refusals_shown
from apps.ui.sent import uuid_of


@never_cache
@require_GET
def errors(request: HttpRequest) -> HttpResponse:
    """A class's common errors by problem and step of the reference solution."""
    user = answerer_of(request)
    course = request.GET.get("course", "")
    course = course if uuid_of(course) else PRACTICE
    rows = figures.common_errors(figures.texts_of_course(user, course))
    context = {"rows": [(row, _reference(user, row)) for row in rows], "course": course, "courses": sheets_coached(user)}
    return render(request, "practice/errors.html", context)


@require_POST
def example(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    """Make a text an example, or end that (`end`)."""
    user = answerer_of(request)
    version = version_answered_for(user, version_id)
    with refusals_shown(request, HelpRefused):
        if "end" in request.POST:
            sharing.example_end(version=version)
            messages.success(request, "The text is no longer an example.")
        else:
            words = request.POST.get("words", "").replace("\0", "")[:SHORT_LENGTH]
            sharing.example_make(version=version, title=request.POST.get("title", "").replace("\0", ""), words=words, by=user)
            messages.success(request, "Students who tried this problem can read the text as an example, without a name.")
    return redirect("practice:answer", version_id=version_id)


@require_POST
def phrases(request: HttpRequest) -> HttpResponse:
    """Save the coach's phrases."""
    user = answerer_of(request)
    with refusals_shown(request, HelpRefused):
        count = sharing.phrases_save(owner=user, lines=request.POST.get("phrases", "").replace("\0", ""))
        messages.success(request, f"Saved {count} phrase{'' if count == 1 else 's'}.")
    return redirect("practice:queue")


@never_cache
@require_GET
def models(request: HttpRequest) -> HttpResponse:
    """How often remarks of models are right, for staff."""
    user_allowed(request, lambda user: user.is_staff)
    return render(request, "practice/models.html", {"rows": figures.model_figures()})


@never_cache
@require_GET
def export(request: HttpRequest) -> FileResponse:
    """Everything that the user wrote in practice and on sheets, as a ZIP."""
    return FileResponse(own_data.practice_zip(user_of(request)), as_attachment=True, filename="practice.zip")


@require_http_methods(["GET", "HEAD", "POST"])
def data(request: HttpRequest) -> HttpResponse:
    """The page of the own data; POST erases the practice."""
    if request.method == "POST":
        erased = own_data.practice_erase(user=user_of(request))
        messages.success(request, "Your practice is erased." if erased else "There was nothing to erase.")
        return redirect("practice:path")
    return render(request, "practice/data.html", {"problems": own_data.problems_of(user_of(request))})


def _reference(user: User, row: figures.ProblemErrors) -> dict[int, str]:
    """The steps of the first solution, if this coach may read it."""
    solution = row.problem.reference_solutions.first() if solutions_of_may_read(user, row.problem) else None
    text = solution.text if solution is not None else ""
    return {number: text[one.start : one.end] for number, one in enumerate(segment(text), 1)}
