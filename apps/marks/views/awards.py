"""Awards of a contest: trying cut-offs, and fixing them on record."""

import uuid
from decimal import Decimal
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.access import user_of
from apps.accounts.models import User
from apps.contests.models import Contest
from apps.marks.office import office
from apps.marks.office.awards import MEDALS, CutOffs, CutOffsRefused, cutoffs_read, cutoffs_suggested, outcome
from apps.marks.office.cutoffs import FixedCutOffs, cutoffs_fix, cutoffs_history
from apps.marks.office.office import ResultList
from apps.marks.views.blind import after_own_marks
from apps.reasoning.marking.schemes.scheme import points_text
from apps.ui.refusals import refusals_shown
from apps.ui.sent import whole_number


@never_cache
@after_own_marks
@require_http_methods(["GET", "HEAD", "POST"])
def awards(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """What the cut-offs in the query give, by default those in force or the usual ones; a POST fixes the posted ones."""
    user = user_of(request)
    contest = office.office_results_for(user, contest_id)
    if request.method == "POST":
        back = f"{request.path}?{urlencode({name: request.POST.get(name, '') for name in (*MEDALS, 'mentions')})}"
        with refusals_shown(request, CutOffsRefused):
            _fix(request, contest, user)
            messages.success(request, "The cut-offs are fixed. Results, files and certificates now have the awards.")
            back = request.path
        return redirect(back)
    found, history = office.result_list(contest), cutoffs_history(contest)
    in_force = history[0] if history else None
    chosen, refusal = _chosen(request, contest, found, in_force)
    is_same = in_force is not None and in_force.cutoffs == chosen
    context = {
        "contest": contest,
        "found": found,
        "unranked": found.unranked,
        "history": history,
        "in_force": in_force,
        "typed": {medal: request.GET.get(medal, "") for medal in MEDALS} if refusal else _typed(chosen),
        "has_mentions": chosen.has_mentions,
        "refusal": refusal,
        "outcome": outcome(found.rows, chosen),
        "suggested": _typed(cutoffs_suggested(found.rows)),
        "is_same": is_same,
        "is_in_force": is_same and in_force is not None and in_force.digest == found.digest,
    }
    return render(request, "marks/awards.html", context)  # Also with a refusal: htmx swaps no page with an error status.


def _fix(request: HttpRequest, contest: Contest, user: User) -> None:
    based_on = request.POST.get("based_on", "")
    cutoffs_fix(
        contest=contest,
        by=user,
        cutoffs=_asked(request.POST, contest),
        digest=request.POST.get("digest", ""),
        based_on=(whole_number(based_on) or 0) if based_on else None,
        reason=request.POST.get("reason", ""),
    )


def _chosen(request: HttpRequest, contest: Contest, found: ResultList, in_force: FixedCutOffs | None) -> tuple[CutOffs, str]:
    """The cut-offs to show, and why the typed ones cannot be used."""
    usual = in_force.cutoffs if in_force else cutoffs_suggested(found.rows)
    if "gold" not in request.GET:
        return usual, ""
    try:
        return _asked(request.GET, contest), ""
    except CutOffsRefused as error:
        return usual, str(error)


def _asked(values: QueryDict, contest: Contest) -> CutOffs:
    typed = {medal: values.get(medal, "") for medal in MEDALS}
    return cutoffs_read(typed, has_mentions=values.get("mentions") == "yes", step=Decimal(contest.point_step))


def _typed(cutoffs: CutOffs) -> dict[str, str]:
    return dict.fromkeys(MEDALS, "") | {medal: points_text(total) for medal, total in cutoffs.lowest}
