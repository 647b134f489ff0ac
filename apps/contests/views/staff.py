"""List of all contests for staff, with actions to delete, restore, show and hide."""

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.contests import deletion, services
from apps.contests.access import contests_administered_by
from apps.contests.asking import deletion_question, hiding_question
from apps.contests.models import Contest
from apps.contests.selectors import administration_rows
from apps.contests.views.writing import STALE
from apps.ui.sent import row_version

DONE = {
    "delete": "Deleted “{}”.",
    "restore": "Restored “{}”. It is in preparation.",
    "show": "The library shows the problems of “{}” now.",
    "hide": "The library hides the problems of “{}” while the contest is open or being marked.",
}


@never_cache
@require_GET
def contest_administration(request: HttpRequest) -> HttpResponse:
    """List all contests."""
    user = user_of(request)
    if not user.is_staff:
        raise Http404("There is no such page.")
    rows = [
        (row, deletion_question(row.contest), deletion.deletion_refusal(row.contest), hiding_question(row.contest))
        for row in administration_rows(contests_administered_by(user))
    ]
    return render(request, "contests/contest_administration.html", {"rows": rows})


@require_POST
def contest_administer(request: HttpRequest, contest_id: uuid.UUID, verb: str) -> HttpResponse:
    """`delete` or `restore` a contest; `show` or `hide` its problems in the library."""
    user = user_of(request)
    contest = get_object_or_404(contests_administered_by(user), public_id=contest_id)
    if verb not in DONE:
        raise Http404("There is no such page.")
    try:
        _administer(verb, contest, request)
    except services.ContestChanged:
        messages.error(request, STALE)
    except services.ContestRefused as error:
        messages.error(request, str(error))
    else:
        messages.success(request, DONE[verb].format(contest.title))
    return redirect("contests:administration")


def _administer(verb: str, contest: Contest, request: HttpRequest) -> None:
    user, based_on = user_of(request), row_version(request)
    if verb == "delete":
        deletion.contest_delete(contest=contest, based_on=based_on, by=user)
    elif verb == "restore":
        deletion.contest_restore(contest=contest, based_on=based_on, by=user)
    else:
        deletion.problems_show(contest=contest, shows=verb == "show", based_on=based_on, by=user)
