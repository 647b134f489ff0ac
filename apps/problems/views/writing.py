"""Create and edit problems, with a preview that also works without JavaScript."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from apps.problems import services
from apps.problems.access import author_of, solved_get_for
from apps.problems.drafts import SOLUTIONS_AT_MOST, draft_of
from apps.problems.forms import ProblemEditor
from apps.problems.models import Problem


@require_http_methods(["GET", "HEAD", "POST"])
def problem_create(request: HttpRequest) -> HttpResponse:
    """Show an empty editor; POST creates a valid problem."""
    user = author_of(request)
    editor = ProblemEditor(request.POST if request.method == "POST" else None)
    if editor.asks_to_save and editor.is_valid():
        problem = services.problem_create(draft=editor.draft(), by=user)
        messages.success(request, "The problem is in the library.")
        return redirect("problems:detail", slug=problem.slug)
    return _editor_page(request, editor)


@require_http_methods(["GET", "HEAD", "POST"])
def problem_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Edit a problem. Saving a changed text creates a new version."""
    user = author_of(request)
    problem = solved_get_for(user, slug)
    if request.method != "POST":
        editor = ProblemEditor(draft=draft_of(problem))
        return _editor_page(request, editor, problem, based_on=services.problem_state(problem))
    editor, based_on = ProblemEditor(request.POST), request.POST.get("based_on", "")
    if editor.asks_to_save and editor.is_valid():
        try:
            services.problem_revise(problem=problem, draft=editor.draft(), by=user, based_on=based_on)
        except services.ProblemChanged:
            return _editor_page(request, editor, problem, based_on=services.problem_state(problem), is_stale=True)
        messages.success(request, "Problem saved.")
        return redirect("problems:detail", slug=problem.slug)
    return _editor_page(request, editor, problem, based_on=based_on)


@require_POST
def problem_list_or_not(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a problem to the library or remove it."""
    problem = solved_get_for(author_of(request), slug)
    is_listed = request.POST.get("is_listed") == "1"
    services.problem_list_or_not(problem=problem, is_listed=is_listed)
    messages.success(request, "The problem is in the library." if is_listed else "The problem is no longer in the library.")
    return redirect("problems:detail", slug=problem.slug)


@require_POST
def problem_preview(request: HttpRequest) -> HttpResponse:
    """Render the content of the editor without storing it."""
    author_of(request)
    return render(request, "problems/_preview.html", {"preview": ProblemEditor(request.POST).preview()})


def _editor_page(
    request: HttpRequest, editor: ProblemEditor, problem: Problem | None = None, *, based_on: str = "", is_stale: bool = False
) -> HttpResponse:
    refused = editor.asks_to_save and not is_stale
    if not editor.asks_to_save:
        editor.forget_errors()
    context: dict[str, Any] = {
        "editor": editor,
        "problem": problem,
        "preview": editor.preview(),
        "based_on": based_on,
        "is_stale": is_stale,
        "is_refused": refused,
        "may_add": editor.solutions.total_form_count() < SOLUTIONS_AT_MOST,
    }
    status = 409 if is_stale else 422 if refused else 200
    return render(request, "problems/problem_edit.html", context, status=status)
