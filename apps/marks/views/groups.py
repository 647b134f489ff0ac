"""Groups of scripts that are alike: the list, one group with its texts, giving items, and taking them back."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.contests.models import ContestProblem
from apps.marks.access import captain_is, problem_marked_for
from apps.marks.models import SharedItems
from apps.marks.sealing.calibration import gate_refusal
from apps.marks.selectors import pages_of, sections_of, steps_of
from apps.marks.setups import cases_prepare
from apps.marks.views.blind import uuids_read
from apps.marks.views.workspace import NOT_CHOSEN
from apps.marks.workspace import groups as service
from apps.marks.workspace.drafts import version_active
from apps.reasoning.answers.groups import Group
from apps.ui.refusals import refusals_shown

Context = dict[str, Any]
PER_PAGE = 20


@never_cache
@require_GET
def groups(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """The groups of the scripts that are left for this marker, and what the marker gave to groups."""
    user = user_of(request)
    problem = problem_marked_for(user, problem_id)
    if cases_prepare(problem) is None:
        messages.error(request, NOT_CHOSEN)
        return redirect("marks:home")
    context = {
        "problem": problem,
        "contest": problem.contest,
        "found": service.groups_for(problem, user),
        "given": service.given_of(problem, user),
        "leads": captain_is(user, problem),
    }
    return render(request, "marks/groups.html", context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def group(request: HttpRequest, problem_id: uuid.UUID, kind: str, case_id: uuid.UUID) -> HttpResponse:
    """The scripts of the group with this script. POST gives items (`item`) to the scripts that the marker has read (`case`)."""
    user = user_of(request)
    problem = problem_marked_for(user, problem_id)
    if cases_prepare(problem) is None:
        raise Http404(NOT_CHOSEN)
    cases, items = uuids_read(request.POST.getlist("case")), list(dict.fromkeys(request.POST.getlist("item")))
    if request.method == "POST":
        with refusals_shown(request, service.GroupRefused):
            shared = service.items_give(problem=problem, user=user, cases=cases, items=items)
            messages.success(request, _given_words(shared.scripts.count(), len(set(cases))))
            return redirect(request.get_full_path())
    found = service.groups_for(problem, user)
    one = found.group(kind, case_id)
    if one is None:
        messages.info(
            request,
            "The first script of this group waits for your mark no more. Its other scripts are below if they are two or more.",
        )
        return redirect("marks:groups", problem_id=problem.public_id)
    context = {"problem": problem, "contest": problem.contest, "group": one, "chosen": items, "seen": cases}
    context |= _scripts(found, one, problem, user, request.GET.get("page", "1"))
    return render(request, "marks/group.html", context, status=422 if request.method == "POST" else 200)


def _scripts(found: service.Found, one: Group[uuid.UUID], problem: ContestProblem, user: User, number: str) -> Context:
    """A page of the scripts of a group, each with the codes it was given, and the items of the scheme."""
    page = Paginator(one.keys, PER_PAGE).get_page(number)
    given = service.codes_by_script(service.given_of(problem, user), one)
    cases = [found.cases[key] for key in page.object_list]
    version = version_active(problem.setup)
    return {
        "page": page,
        "scripts": [(case, steps_of(case.version), pages_of(case.version), given[case.public_id]) for case in cases],
        "sections": sections_of(version.content, frozenset()) if version else [],
        "refusal": gate_refusal(problem, user) or ("" if version else service.NONE_ACTIVE),
    }


def _given_words(count: int, asked: int) -> str:
    given = "1 script has" if count == 1 else f"{count} scripts have"
    left = asked - count
    rest = f" {left} of the ticked scripts had them, or wait for your mark no more." if left else ""
    return f"{given} the items now. They are ticked when you mark {'it' if count == 1 else 'them'}.{rest}"


@require_POST
def items_take_back(request: HttpRequest, shared_id: int) -> HttpResponse:
    """Take items back from all scripts of one decision of the user."""
    user = user_of(request)
    shared = get_object_or_404(SharedItems.objects.select_related("problem"), pk=shared_id, marker=user)
    problem = problem_marked_for(user, shared.problem.public_id)
    with refusals_shown(request, service.GroupRefused):
        kept = service.items_take_back(shared=shared, user=user)
        sealed = f" Your sealed marks of {', '.join(kept)} keep them." if kept else ""
        messages.success(request, f"The items were taken back.{sealed}")
    return redirect("marks:groups", problem_id=problem.public_id)
