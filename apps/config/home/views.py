"""The home page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.config.home.content import SPARK_HEIGHT, SPARK_WIDTH, home_problems, home_runs
from apps.config.home.contests import contests_coached, contests_own
from apps.config.home.practice import path_own, questions_of_practice
from apps.notes.selectors import mentions_of
from apps.problems.access import library_of


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Pending contest tasks; running and recent runs for users who may see runs; problems for everyone."""
    user = user_of(request)
    live, recent = home_runs(user)
    is_refresh = "HX-Request" in request.headers
    context = {
        # The list of running runs polls this page and uses no other part of it.
        "coached": [] if is_refresh else contests_coached(user),
        "own_contests": [] if is_refresh else contests_own(user),
        "path": None if is_refresh else path_own(user),
        "questions": 0 if is_refresh else questions_of_practice(user),
        "mentions": [] if is_refresh else mentions_of(user),
        "live": live,
        "recent": recent,
        "problems": home_problems(user),
        "problem_count": library_of(user).count(),
        "spark_box": f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}",
    }
    return render(request, "home/home.html", context)
