"""The home page and the page that documents the HTTP API."""

from typing import cast

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.models import User
from apps.config.api_docs import api_operations
from apps.config.home import SPARK_HEIGHT, SPARK_WIDTH, home_problems, home_runs
from apps.problems.models import Problem


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Running and recent runs for those who see runs; problems for everyone."""
    user = cast(User, request.user)
    live, recent = home_runs(user)
    context = {
        "live": live,
        "recent": recent,
        "problems": home_problems(),
        "problem_count": Problem.objects.count(),
        "spark_box": f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}",
    }
    return render(request, "home/home.html", context)


@require_GET
def api_docs(request: HttpRequest) -> HttpResponse:
    """The HTTP API in words, drawn from the same schema that programs read."""
    return render(request, "home/api_docs.html", {"operations": api_operations()})
