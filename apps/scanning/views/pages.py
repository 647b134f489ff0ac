"""Scanned pages: the tray, where pages are assigned with two keys, pictures, and the pages of a student.

No address or form names a paper: its id is next to its number on the pages of markers, and here next to a name.
"""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import cache_control, never_cache
from django.views.decorators.http import require_GET, require_POST

from apps.accounts.access import user_of
from apps.contests.models import Contest
from apps.scanning import tray as actions
from apps.scanning.access import page_get_for, scans_contest_for
from apps.scanning.models import PageState, ScannedPage
from apps.scanning.receiving import ScansRefused, scans_refusal
from apps.scanning.selectors import tray_of
from apps.ui.refusals import refusals_shown
from apps.ui.sent import uuid_of, whole_number

SHOWN = 200


@never_cache
@require_GET
def tray(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """One page of the tray, the first or `page`, with the form that assigns it."""
    contest = scans_contest_for(user_of(request), contest_id)
    waiting = list(tray_of(contest).values_list("public_id", flat=True))
    asked = uuid_of(request.GET.get("page", ""))
    place = waiting.index(asked) if asked in waiting else 0
    page = tray_of(contest).filter(public_id=waiting[place]).first() if waiting else None
    context = {
        "contest": contest,
        "page": page,
        "place": place + 1,
        "count": len(waiting),
        "previous": waiting[place - 1] if place else None,
        "next": waiting[place + 1] if place + 1 < len(waiting) else None,
        "students": contest.identities.select_related("paper").order_by("name", "pk"),
        "problems": contest.problems.all(),
        "refusal": scans_refusal(contest),
    }
    return render(request, "scanning/tray.html", context)


@never_cache
@require_GET
def gallery(request: HttpRequest, contest_id: uuid.UUID) -> HttpResponse:
    """The pages of a student (`student`), or of a state (`state`), small."""
    contest = scans_contest_for(user_of(request), contest_id)
    rows = ScannedPage.objects.filter(file__contest=contest).defer("jpeg").select_related("file", "problem")
    state = request.GET.get("state", "")
    identity = None
    if asked := whole_number(request.GET.get("student", "")):
        identity = contest.identities.filter(pk=asked).first()
        if identity is None:
            raise Http404("There is no such student.")
        rows = rows.filter(paper=identity.paper_id).order_by("problem__position", "sheet", "file__path", "number")
    elif state in PageState.values:
        rows = rows.filter(state=state)
    else:
        raise Http404("There is no such page.")
    found = list(rows[: SHOWN + 1])
    context = {
        "contest": contest,
        "identity": identity,
        "title": identity.name if identity else PageState(state).label,
        "pages": found[:SHOWN],
        "has_more": len(found) > SHOWN,
        "refusal": scans_refusal(contest),
    }
    return render(request, "scanning/gallery.html", context)


@cache_control(private=True, max_age=3600)
@require_GET
def picture(request: HttpRequest, page_id: uuid.UUID) -> HttpResponse:
    """The picture of a page."""
    page = page_get_for(user_of(request), page_id)
    if not page.jpeg:
        raise Http404("This page could not be read, so it has no picture.")
    return HttpResponse(bytes(page.jpeg), content_type="image/jpeg")


@require_POST
def change(request: HttpRequest, page_id: uuid.UUID) -> HttpResponse:
    """Assign a page (`assign` with `paper` and `problem`), turn it (`turn`), or put it elsewhere (`put`)."""
    page = page_get_for(user_of(request), page_id)
    contest = page.file.contest
    follows = _next_in_tray(contest, page)
    done: uuid.UUID | None = page.public_id  # A refused change shows the same page again.
    with refusals_shown(request, ScansRefused):
        if "turn" in request.POST:
            actions.page_turn(page=page, degrees=whole_number(request.POST["turn"], 3) or 90)
            done = page.public_id
        elif put := request.POST.get("put", ""):
            if put not in PageState.values:
                raise ScansRefused("A page can be put away, called blank, or back into the tray.")
            actions.page_put(page=page, state=PageState(put))
            done = follows
        else:
            _assign(request, contest, page)
            done = follows
    back = request.POST.get("back", "")
    if back and url_has_allowed_host_and_scheme(back, None):
        return redirect(back)
    query = f"?page={done}" if done else ""
    return redirect(reverse("scanning:tray", args=[contest.public_id]) + query)


def _assign(request: HttpRequest, contest: Contest, page: ScannedPage) -> None:
    student, asked = whole_number(request.POST.get("student", "")), uuid_of(request.POST.get("problem", ""))
    identity = contest.identities.filter(pk=student).select_related("paper").first() if student else None
    problem = contest.problems.filter(public_id=asked).first() if asked else None
    if identity is None or problem is None:
        raise ScansRefused("Choose the student and the problem.")
    actions.page_assign(page=page, paper=identity.paper, problem=problem)


def _next_in_tray(contest: Contest, page: ScannedPage) -> uuid.UUID | None:
    waiting = list(tray_of(contest).values_list("public_id", flat=True))
    if page.public_id not in waiting:
        return None
    place = waiting.index(page.public_id)
    left = [*waiting[place + 1 :], *waiting[:place]]
    return left[0] if left else None
