"""Blank scripts of a contest: the list, one decision on many, and taking it back; for captains and organisers."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.marks.access import problem_captained_for
from apps.marks.office.office import office_get_for
from apps.marks.team import blanks as service
from apps.marks.views.blind import uuids_read
from apps.ui.refusals import refusals_shown


@never_cache
@require_GET
def blanks(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """Scripts without text and ink, by problem, and the decisions so far."""
    contest, problems = office_get_for(user_of(request), contest_id)
    found = [(problem, service.blanks_of(problem), service.decisions_of(problem)) for problem in problems]
    return render(request, "marks/blanks.html", {"contest": contest, "found": found})


@require_POST
def blanks_settle(request: HttpRequest, problem_id: uuid.UUID) -> HttpResponse:
    """Settle the chosen blank scripts (`case`) with no points."""
    user = user_of(request)
    problem = problem_captained_for(user, problem_id)
    with refusals_shown(request, service.BlanksRefused):
        cases = [str(one) for one in uuids_read(request.POST.getlist("case"))]
        count = service.blanks_settle(problem=problem, cases=cases, by=user)
        messages.success(request, f"{count} blank script{'' if count == 1 else 's'} settled with 0 points.")
    return redirect("office:blanks", contest_id=problem.contest.public_id)


@require_POST
def blanks_undo(request: HttpRequest, problem_id: uuid.UUID, event_id: int) -> HttpResponse:
    """Take back a decision on blank scripts."""
    user = user_of(request)
    problem = problem_captained_for(user, problem_id)
    event = service.decision_get(problem.contest, problem, event_id)
    if event is None:
        raise Http404("There is no such decision.")
    with refusals_shown(request, service.BlanksRefused):
        count = service.blanks_undo(problem=problem, event=event, by=user)
        messages.success(
            request, f"{count} script{'' if count == 1 else 's'} wait{'s' if count == 1 else ''} for a mark again."
        )
    return redirect("office:blanks", contest_id=problem.contest.public_id)
