"""Pages of a marker: the work left, the workspace of one script, its panes, and the next script fetched ahead."""

import uuid
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.marks import selectors
from apps.marks.access import MarkingInactive, TaskGone, captain_is, problem_marked_for, task_get_for
from apps.marks.blindness import own_marks_require
from apps.marks.home import home_rows
from apps.marks.sealing.calibration import gate_refusal
from apps.marks.sealing.sealing import cases_settle
from apps.marks.setups import cases_prepare, setup_of
from apps.marks.views.blind import after_own_marks
from apps.marks.waiting import waiting_for
from apps.marks.workspace.claims import task_next
from apps.marks.workspace.drafts import draft_of
from apps.marks.workspace.script_filters import FILTERS, choice_read
from apps.marks.workspace.scripts import script_page
from apps.reasoning.marking.sheets.sheet import Fallacy

NOT_CHOSEN = "An organiser has yet to choose how this problem is marked."


@never_cache
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The problems that the user marks, with what is left and what they sealed."""
    user = user_of(request)
    if not user.may_see_runs:
        raise Http404("There is no such page.")
    rows = home_rows(user)
    return render(request, "marks/home.html", {"rows": rows, "waiting": waiting_for(user)})


@never_cache
@after_own_marks
@require_GET
def script_list(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """The scripts of a problem by number, with the user's own results; `show` (and `kind`) filters.

    `of=all`: all scripts, for captain and organisers once no mark of their own on the problem can change.
    """
    user = user_of(request)
    problem = problem_marked_for(user, problem_id)
    if setup_of(problem) is None:
        messages.error(request, NOT_CHOSEN)
        return redirect("marks:home")
    leads = captain_is(user, problem)
    is_everybody = leads and request.GET.get("of") == "all"
    if is_everybody:
        own_marks_require(user, problem)
    choice = choice_read(request.GET.get("show", "all"), request.GET.get("kind", ""), is_everybody=is_everybody)
    page, rows = script_page(problem, user, choice, request.GET.get("page", "1"))
    chosen = {"of": "all" if is_everybody else "", "show": choice.show, "kind": choice.fallacy}
    context = {
        "problem": problem,
        "contest": problem.contest,
        "page": page,
        "rows": rows,
        "choice": choice,
        "filters": FILTERS,
        "fallacies": [(one.value, selectors.FALLACY_WORDS[one]) for one in Fallacy],
        "leads": leads,
        "query": urlencode({name: value for name, value in chosen.items() if value}),
    }
    return render(request, "marks/script_list.html", context)


@require_POST
def next_task(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Claim a script and open it, or explain why there is none."""
    user = user_of(request)
    problem = problem_marked_for(user, problem_id)
    if cases_prepare(problem) is None:
        messages.error(request, NOT_CHOSEN)
        return redirect("marks:home")
    cases_settle(problem.contest)
    task = task_next(problem, user)
    if task is not None:
        return redirect("marks:task", task_id=task.public_id)
    context = {
        "problem": problem,
        "contest": problem.contest,
        "mine": selectors.marks_sealed(problem, user).count(),
        "refusal": gate_refusal(problem, user),
    }
    return render(request, "marks/nothing_left.html", context)


@never_cache
@require_GET
def task(request: HttpRequest, task_id: uuid.UUID) -> HttpResponse:
    """The workspace of a script that the user holds or has sealed."""
    user = user_of(request)
    try:
        found = task_get_for(user, task_id)
        space = selectors.workspace(found, draft_of(found, user), user)
    except TaskGone as gone:
        return render(
            request, "marks/gone.html", {"message": str(gone), "is_inactive": isinstance(gone, MarkingInactive)}, status=410
        )
    context = {"workspace": space, "is_captain": captain_is(user, space.problem)}
    return render(request, "marks/workspace.html", context)


@never_cache
@require_GET
def pane(request: HttpRequest, task_id: uuid.UUID, name: str) -> HttpResponse:
    """One pane of the workspace: scheme, problem, reference solutions, source, reusable comments."""
    user = user_of(request)
    if name not in selectors.PANES:
        raise Http404("There is no such pane.")
    try:
        found = task_get_for(user, task_id)
        space = selectors.workspace(found, draft_of(found, user), user)
    except TaskGone as gone:
        return HttpResponse(str(gone), status=410, content_type="text/plain; charset=utf-8")
    context: dict[str, Any] = {"workspace": space}
    if name == "solutions":
        context["solutions"] = selectors.solutions_of(space.problem)
    if name == "comments":
        context["phrases"] = selectors.phrase_list(space.problem, user)[: selectors.PHRASES_SHOWN]
    return render(request, f"marks/_pane_{name}.html", context)


@never_cache
@require_GET
def next_up(request: HttpRequest, task_id: uuid.UUID) -> HttpResponse:
    """The next script, claimed ahead so that it appears at once after sealing; 204 without one."""
    user = user_of(request)
    try:
        current = task_get_for(user, task_id)
        following = task_next(current.case.problem, user, after=current)
        if following is None:
            return HttpResponse(status=204)
        found = task_get_for(user, following.public_id)
        space = selectors.workspace(found, draft_of(found, user), user)
    except TaskGone as gone:
        return HttpResponse(str(gone), status=410, content_type="text/plain; charset=utf-8")
    context = {"workspace": space, "is_captain": captain_is(user, space.problem)}
    return render(request, "marks/_workspace.html", context)


@never_cache
@require_GET
def phrases(request: HttpRequest, problem_id: uuid.UUID) -> JsonResponse:
    """Reusable comments that contain these words (`q`)."""
    user = user_of(request)
    problem = problem_marked_for(user, problem_id)
    if setup_of(problem) is None:
        return JsonResponse({"phrases": []})
    rows = selectors.phrase_list(problem, user, request.GET.get("q", "")[:200])[: selectors.PHRASES_SHOWN]
    return JsonResponse({"phrases": [{"words": row.words, "uses": row.uses} for row in rows]})
