"""The setup of a problem, for organisers."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.accounts.access import user_of
from apps.marks.access import problem_organised_for
from apps.marks.forms import SetupForm
from apps.marks.setups import SetupRefused, cases_prepare, setup_of, setup_save


@require_http_methods(["GET", "HEAD", "POST"])
def setup(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Scheme, markers and rules of a problem."""
    user = user_of(request)
    problem = problem_organised_for(user, problem_id)
    form = SetupForm(
        problem, request.POST if request.method == "POST" else None, initial=SetupForm.initial_of(setup_of(problem))
    )
    if request.method == "POST" and form.is_valid():
        try:
            setup_save(problem=problem, choices=form.choices(), by=user)
        except SetupRefused as refused:
            form.add_error(None, str(refused))
        else:
            cases_prepare(problem)
            messages.success(request, f"Problem {problem.label} can be marked.")
            return redirect("marks:home")
    context = {"form": form, "problem": problem, "contest": problem.contest}
    return render(request, "marks/setup.html", context, status=422 if form.errors else 200)
