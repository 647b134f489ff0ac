"""The list of problems and the page of one problem."""

from dataclasses import asdict
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_GET

from apps.accounts.access import user_of
from apps.problems import selectors
from apps.problems.access import problem_get_for, problem_may_edit, problem_visible_to, solutions_of_may_read
from apps.problems.models import Problem, ProblemVersion, Topic
from apps.ui.sent import whole_number

PAGE = 50


@require_GET
def problem_list(request: HttpRequest) -> HttpResponse:
    """List the library with search, filters, order and pagination, all in the URL."""
    user = user_of(request)
    visible = problem_visible_to(user)
    asked = selectors.filter_from(request.GET)
    page = Paginator(selectors.problem_list(visible, asked, with_runs=user.may_see_runs), PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "page": page,
        "asked": asked,
        "columns": _columns(asked, with_runs=user.may_see_runs),
        "query": _query(asked).urlencode(),
        "topics": Topic.choices,
        "may_edit": problem_may_edit(user),
        "may_see_runs": user.may_see_runs,
        "of_sets": visible.filter(is_listed=False).count(),
        **selectors.filter_choices(visible.filter(is_listed=not asked.of_sets)),
    }
    return render(request, "problems/problem_list.html", context)


@require_GET
def problem_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a problem. `?version=2` shows an older version, which runs may use."""
    user = user_of(request)
    problem = problem_get_for(user, slug)
    newest = problem.current
    version = _version(request, problem, newest)
    open_book = solutions_of_may_read(user, problem)
    context: dict[str, Any] = {
        "problem": problem,
        "version": version,
        "newest": newest,
        "open_book": open_book,
        "may_edit": open_book and problem_may_edit(user),
        "may_see_runs": user.may_see_runs,
    }
    if open_book:
        context["solutions"] = list(problem.reference_solutions.all())
        context["hints"] = list(selectors.hint_texts(problem).values())
    if user.may_see_runs:
        context["runs"] = selectors.runs_count(problem)
    return render(request, "problems/problem_detail.html", context)


def _version(request: HttpRequest, problem: Problem, newest: ProblemVersion) -> ProblemVersion:
    """The requested version, by default the newest. Raises `Http404` for an unknown one."""
    number = request.GET.get("version", "")
    if not number:
        return newest
    asked = whole_number(number, 6)
    version = selectors.version_get(problem, asked) if asked is not None else None
    if version is None:
        raise Http404(f"This problem has no version {number}.")
    return version


def _query(asked: selectors.ProblemFilter, **changes: str) -> QueryDict:
    """Query parameters of a list state, without defaults."""
    query = QueryDict(mutable=True)
    for name, value in (asdict(asked) | changes).items():
        if value and (name, value) != ("sort", "title"):
            query[name] = value
    return query


def _columns(asked: selectors.ProblemFilter, *, with_runs: bool) -> list[dict[str, str]]:
    """Column headings: name, label, `aria-sort` value, and query that sorts by it or reverses the order."""
    columns = []
    for name, label in selectors.SORTS.items():
        if name == "runs" and not with_runs:
            continue
        is_up, is_down = asked.sort == name, asked.sort == f"-{name}"
        following = f"-{name}" if is_up or (name in {"runs", "year"} and not is_down) else name
        columns.append(
            {
                "name": name,
                "label": label,
                "aria": "ascending" if is_up else "descending" if is_down else "",
                "query": _query(asked, sort=following).urlencode(),
            }
        )
    return columns
