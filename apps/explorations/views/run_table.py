"""The list of runs with its filters, saved views, and actions on selected runs."""

from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import run_reader_of
from apps.accounts.models import Role, User
from apps.desk.selectors import saved_views
from apps.desk.services import tag_add, tag_remove, view_delete, view_save
from apps.explorations.calls.tool_rates import tool_rate
from apps.explorations.run_table.columns import headings, orders, sort_from
from apps.explorations.run_table.filters import OUTCOMES, choices, filtered, listed_for, wanted_from
from apps.explorations.run_table.rows import listed
from apps.explorations.run_table.selection import deletion_of, runs_delete, runs_selected, runs_zip
from apps.explorations.words import scaffold_word
from apps.problems.access import problem_visible_to
from apps.problems.models import Topic
from apps.processes.one_moment import one_moment
from apps.runs.models import Run

#: The page that compares runs.
COMPARED_AT_MOST = 4


@require_GET
@one_moment()
def run_list(request: HttpRequest) -> HttpResponse:
    """The runs that the user may see, by the filters and the order of the address."""
    user = run_reader_of(request)
    runs = listed_for(user)
    wanted, sort = wanted_from(request.GET, user), sort_from(request.GET)
    found = filtered(runs, wanted)
    query, offered = _query(request.GET), choices(runs)
    context = {
        "list": listed(found, sort, request.GET.get("page")),
        "wanted": wanted,
        "chosen": wanted.chosen,
        "sort": sort,
        "orders": orders(sort),
        "headings": headings(request.GET, sort),
        "query": query,
        "views": [(view, view.query == query) for view in saved_views(user)],
        "problem": problem_visible_to(user).filter(slug=wanted.chosen["problem"]).first() if wanted.chosen["problem"] else None,
        "outcomes": [(value, words) for value, (words, _) in OUTCOMES.items()],
        "topics": Topic.choices,
        "scaffolds": [(name, scaffold_word(name)) for name in offered.scaffolds],
        "models": offered.models,
        "owners": offered.owners,
        "tags": offered.tags,
        "tools": tool_rate(found),
        "may_make_datasets": user.role == Role.RESEARCHER,
    }
    return render(request, "explorations/run_list.html", context)


def _query(given: QueryDict) -> str:
    """The query string without the page and without empty filters: the permalink of the list."""
    return urlencode([(name, value) for name, values in given.lists() for value in values if value and name != "page"])


@require_POST
def run_selection(request: HttpRequest) -> HttpResponse:
    """Do with the selected runs what the pressed button names, and return to the list."""
    user, action = run_reader_of(request), request.POST.get("action", "")
    try:
        runs = runs_selected(user, request.POST.getlist("run"))
        if action in ("tag", "untag"):
            messages.success(request, _tagged(user, runs, action, request.POST.get("tag", "")))
        elif action == "compare" and not 2 <= len(runs) <= COMPARED_AT_MOST:
            raise ValidationError(f"Select two to {COMPARED_AT_MOST} runs to compare; {len(runs)} are selected.")
        elif action in _PAGES:
            return redirect(f"{_PAGES[action]()}?{_ids(runs)}")
    except ValidationError as error:
        messages.error(request, error.messages[0])
    return _back(request)


_PAGES = {
    "compare": lambda: reverse("explorations:run_compare"),
    "dataset": lambda: reverse("datasets:new"),
    "export": lambda: reverse("explorations:run_export"),
    "delete": lambda: reverse("explorations:run_delete"),
}


def _ids(runs: list[Run]) -> str:
    return urlencode([("run", str(run.public_id)) for run in runs])


def _tagged(user: User, runs: list[Run], action: str, name: str) -> str:
    """Add or remove a tag. Returns what was done."""
    if action == "tag":
        added = tag_add(user=user, runs=runs, name=name)
        return f"{added} of {len(runs)} selected runs got the tag; the others had it."
    removed, kept = tag_remove(user=user, runs=runs, name=name)
    others = f" {kept} were set by others on runs that you do not steer, and stay." if kept else ""
    return f"The tag was removed from {removed} of {len(runs)} selected runs.{others}"


@require_GET
def run_export(request: HttpRequest) -> HttpResponseBase:
    """The selected runs as a ZIP file of their exports."""
    user = run_reader_of(request)
    try:
        return FileResponse(runs_zip(runs_selected(user, request.GET.getlist("run"))), as_attachment=True, filename="runs.zip")
    except ValidationError as error:
        messages.error(request, error.messages[0])
        return redirect("explorations:run_list")


@require_http_methods(["GET", "HEAD", "POST"])
def run_delete(request: HttpRequest) -> HttpResponse:
    """Ask once before the selected runs are deleted, with what is kept; delete them."""
    user = run_reader_of(request)
    given = request.POST if request.method == "POST" else request.GET
    try:
        runs = runs_selected(user, given.getlist("run"))
    except ValidationError as error:
        messages.error(request, error.messages[0])
        return redirect("explorations:run_list")
    if request.method != "POST":
        return render(request, "explorations/run_delete.html", {"deletion": deletion_of(user, runs)})
    done = runs_delete(user=user, runs=runs)
    kept = f" {len(done.kept)} were kept." if done.kept else ""
    (messages.success if done.runs else messages.error)(request, f"{len(done.runs)} runs were deleted.{kept}")
    return redirect("explorations:run_list")


@require_POST
def run_view(request: HttpRequest) -> HttpResponse:
    """Save the current filters and order under a name, or delete a saved view."""
    user, name = run_reader_of(request), request.POST.get("name", "")
    try:
        if request.POST.get("action") == "delete":
            was_there = view_delete(user=user, name=name)
            messages.success(request, "The view was deleted." if was_there else "There is no view of this name.")
        else:
            view = view_save(user=user, name=name, query=_query(QueryDict(request.POST.get("query", ""))))
            messages.success(request, f"The view “{view.name}” is saved. Its link works for everyone who may see the runs.")
    except ValidationError as error:
        messages.error(request, error.messages[0])
    return _back(request)


def _back(request: HttpRequest) -> HttpResponse:
    """The list with the filters that the form was sent with."""
    query = request.POST.get("query", "")
    return redirect(f"{reverse('explorations:run_list')}{'?' if query else ''}{QueryDict(query).urlencode()}")
